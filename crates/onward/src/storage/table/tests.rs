use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Low and high ones, neighbours, and such as differ in their upper bits only.
fn index() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..5000, (LOW - 9)..(LOW + 2000), (0u32..2048).prop_map(|k| k << 20), any::<u32>()]
}

proptest! {
    #[test]
    fn a_table_is_a_map_whose_values_start_at_zero(writes in prop::collection::vec((index(), any::<f64>()), 0..300)) {
        let (mut table, mut map) = (ParameterTable::default(), BTreeMap::new());
        for &(index, value) in &writes {
            *table.entry(index) = value;
            map.insert(index, value);
        }
        for index in (0..6000).chain((0..3000).map(|k| k << 20)).chain(LOW - 9..LOW + 3000) {
            prop_assert_eq!(table.get(index).to_bits(), map.get(&index).copied().unwrap_or(0.0).to_bits());
        }
        let mut found: Vec<(u32, u64)> = table.entries().filter(|(_, value)| value.to_bits() != 0).map(|(i, v)| (i, v.to_bits())).collect();
        found.sort_unstable();
        let expected: Vec<(u32, u64)> = map.iter().filter(|(_, value)| value.to_bits() != 0).map(|(&i, v)| (i, v.to_bits())).collect();
        prop_assert_eq!(found, expected);
    }
}

/// How rows come to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Unnumbered,
    Numbered,
    /// A row that was numbered to be learnt from does not come.
    OneLeftOut,
}

/// Counts how often indices occur, row by row; some rows are not learnt from.
/// `before`: what a saved table had.
fn counted(rows: &[Vec<u32>], come: Rows, before: &[u32]) -> (ParameterTable<u8>, BTreeMap<u32, u8>) {
    let state = Archive::saved(|archive| archive.column("table.index", &mut before.to_vec())).unwrap();
    let archive = Archive::loading_with_map(state, &["table"]);
    let threes = before.iter().map(|_| 3);
    let mut table: ParameterTable<u8> = match come {
        Rows::Unnumbered => ParameterTable::filled(before, threes).unwrap(),
        _ => ParameterTable::loaded(&archive, before, threes).unwrap(),
    };
    let mut features = archive.into_map();
    let (mut map, mut positions) =
        (before.iter().map(|&index| (index, 3)).collect::<BTreeMap<_, _>>(), Positions::default());
    let mut batch = crate::Batch::default();
    for (chunk_number, chunk) in rows.chunks(7).enumerate() {
        batch.clear();
        for (number, row) in chunk.iter().enumerate() {
            row.iter().for_each(|&index| batch.push(index, 1.0));
            let (label, weight) = ((number != 3).then_some(1.0), if number == 5 { 0.0 } else { 1.0 });
            batch.finish(label, weight);
        }
        if come != Rows::Unnumbered {
            features.number(&mut batch);
        }
        for (number, example) in batch.iter().enumerate() {
            let x = example.features;
            if come == Rows::OneLeftOut && (chunk_number, number) == (1, 2) {
                continue;
            }
            // Predicted only: some of its features have no entries.
            if number == 3 || number == 5 {
                for (&index, (entry, _)) in x.indices().iter().zip(table.row(x)) {
                    assert_eq!(entry, map.get(&index).copied().unwrap_or(0));
                }
                continue;
            }
            table.prefetch(x);
            table.locate(x, &mut positions);
            for (&position, &index) in positions.of(x).all().iter().zip(x.indices()) {
                let entry = table.at(position as usize);
                *entry = entry.wrapping_add(1);
                let count = map.entry(index).or_insert(0u8);
                *count = count.wrapping_add(1);
            }
        }
    }
    (table, map)
}

/// Of a table that was filled from rows without ids, and of one that is laid out by ids: rows that are predicted, and
/// all entries at once.
#[test]
fn entries_are_found_row_by_row_and_all_at_once() {
    let mut random = crate::numeric::rng::SplitMix64::new(5);
    let mut index = || (u64::from(LOW) - 50 + random.below(3000)) as u32;
    let kept: Vec<u32> = (0..400).map(|_| index()).collect();
    let table: ParameterTable<u32> = ParameterTable::filled(&kept, kept.iter().copied()).unwrap();
    let (mut map, mut batch) = (crate::FeatureMap::default(), crate::Batch::default());
    for _ in 0..50 {
        (0..20).for_each(|_| batch.push(index(), 1.0));
        batch.finish(Some(1.0), 1.0);
    }
    map.number(&mut batch);
    let is_kept = |index: u32| if kept.contains(&index) { index } else { 0 };
    for example in batch.iter() {
        table.prefetch(example.features);
        for (&index, (entry, _)) in example.features.indices().iter().zip(table.row(example.features)) {
            assert_eq!(entry, is_kept(index));
        }
    }
    let asked: Vec<u32> =
        kept.iter().copied().chain(kept.iter().rev().copied()).chain((0..500).map(|_| index())).collect();
    let found: Vec<u32> = table.each(&asked).collect();
    assert_eq!(found, asked.iter().map(|&index| is_kept(index)).collect::<Vec<_>>());
    let (mut by_id, mut positions) = (ParameterTable::<u32>::default(), Positions::default());
    for example in batch.iter() {
        by_id.locate(example.features, &mut positions);
        for (&position, &index) in positions.of(example.features).all().iter().zip(example.features.indices()) {
            *by_id.at(position as usize) = index;
        }
    }
    assert!(matches!(by_id.id_source, IdSource::Map(_)) && by_id.numbers.get().is_none());
    let met: Vec<u32> = batch.iter().flat_map(|example| example.features.indices().to_vec()).collect();
    assert_eq!(by_id.each(&met).collect::<Vec<_>>(), met);
    assert_eq!(met.iter().map(|&index| by_id.get(index)).collect::<Vec<_>>(), met);
    let twice = by_id.map(|&entry| 2 * u64::from(entry));
    let row = batch.get(9).features;
    assert!(twice.row(row).map(|(entry, _)| entry).eq(row.indices().iter().map(|&index| 2 * u64::from(index))));
}

#[test]
fn a_table_is_laid_out_by_ids_until_a_row_is_left_out() {
    let mut random = crate::numeric::rng::SplitMix64::new(23);
    let mut index = || (u64::from(LOW) - 50 + random.below(8000)) as u32;
    let rows: Vec<Vec<u32>> = (0..20).map(|_| (0..30).map(|_| index()).collect()).collect();
    for before in [&[][..], &[LOW + 7, 9, LOW + 70_000]] {
        let (table, _) = counted(&rows, Rows::Numbered, before);
        assert!(matches!(table.id_source, IdSource::Map(_)));
        let (table, _) = counted(&rows, Rows::OneLeftOut, before);
        assert!(table.id_source == IdSource::Own);
    }
}

#[test]
fn a_row_without_ids_of_its_own_is_predicted_after_later_ones_as_it_should_be() {
    let (mut map, mut batch) = (crate::FeatureMap::default(), crate::Batch::default());
    for label in [None, Some(1.0)] {
        batch.push(3_000_000, 1.0);
        batch.finish(label, 1.0);
    }
    map.number(&mut batch);
    let (mut table, mut positions) = (ParameterTable::<u32>::default(), Positions::default());
    table.locate(batch.get(1).features, &mut positions);
    *table.at(positions.of(batch.get(1).features).all()[0] as usize) = 7;
    for row in 0..2 {
        assert_eq!(table.row(batch.get(row).features).next(), Some((7, 1.0)), "{row}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn entries_are_found_by_ids_and_without_and_when_all_are_addressed_directly(
        seed: u64, spread in prop_oneof![Just(8000u64), Just(40_000), Just(1 << 30)], count in 1usize..400,
    ) {
        let mut random = crate::numeric::rng::SplitMix64::new(seed);
        let index = |random: &mut crate::numeric::rng::SplitMix64| (u64::from(LOW) - 50 + random.below(spread)) as u32;
        let rows: Vec<Vec<u32>> = (0..count).map(|_| (0..30).map(|_| index(&mut random)).collect()).collect();
        let before: Vec<u32> = if seed % 2 == 0 { Vec::new() } else { vec![LOW + 7, LOW + 3, 9, LOW + 3000] };
        for come in [Rows::Unnumbered, Rows::Numbered, Rows::OneLeftOut] {
            let (table, map) = counted(&rows, come, &before);
            for (&index, &count) in &map {
                prop_assert_eq!(table.get(index), count, "{}", index);
            }
            let all: u64 = table.entries().map(|(_, &count)| u64::from(count != 0)).sum();
            prop_assert_eq!(all, map.values().filter(|&&count| count != 0).count() as u64);
            // The case is there to be met: 29 bytes an entry, and one for each index.
            // A 64th more than the largest index.
            let most = (u64::from(LOW) + spread) * 65 / 64 + 64;
            prop_assert!(table.limit == LOW || spread < 1 << 30 && u64::from(table.limit) < most, "{}", table.limit);
            if spread == 8000 && count > 300 {
                prop_assert!(table.limit > LOW);
            }
        }
    }
}
