//! Which features the curved certificate is about, and where their sums stand.

/// No place.
pub(super) const NONE: u16 = u16::MAX;

/// The most features.
pub(super) const MOST: usize = 1024;

/// The places of features in an array that is addressed by a hash: four times as many as features.
const SPARE: usize = 4;

/// The features of which sums are kept, by place, in the order in which they came: those of the first rows, which every row has
/// in a table, side by side.
#[derive(Debug, Clone)]
pub(super) struct Members {
    limit: usize,
    reserved: u32,
    /// How many there may be with those of reserved indices that are yet to come, for others to find room.
    room: usize,
    indices: Vec<u32>,
    /// How many of them have reserved indices.
    reserved_ones: usize,
    /// Their places, by a hash of their indices.
    hashed: Vec<u16>,
    /// What the row before had at each position, and its place: rows of a table begin alike.
    last: Vec<(u32, u16)>,
}

impl Members {
    /// Room for this many features, from 1 to [`MOST`]. Those with indices below `reserved` are sure of it, as far as it goes;
    /// others come in until half of it is taken, by whichever.
    pub(super) fn new(limit: usize, reserved: u32) -> Self {
        let limit = limit.clamp(1, MOST);
        let room = if reserved > 1 { limit / 2 } else { limit };
        let hashed = vec![NONE; (SPARE * limit).next_power_of_two()];
        Self { limit, reserved, room, indices: Vec::new(), reserved_ones: 0, hashed, last: Vec::new() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn reserved(&self) -> u32 {
        self.reserved
    }

    /// The feature of each place.
    pub(super) fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The place of a feature that is at this position of a row; one that is seen for the first time gets one, if there is
    /// room. It either gets one then, or never.
    #[inline]
    pub(super) fn place(&mut self, position: usize, index: u32) -> u16 {
        match self.last.get(position) {
            Some(&(last, place)) if last == index => place,
            _ => self.look_up(position, index),
        }
    }

    fn look_up(&mut self, position: usize, index: u32) -> u16 {
        let mask = self.hashed.len() - 1;
        let mut at = index.wrapping_mul(0x9E37_79B1) as usize & mask;
        let place = loop {
            match self.hashed[at] {
                NONE => break self.enter(index, at),
                place if self.indices[usize::from(place)] == index => break place,
                _ => at = (at + 1) & mask,
            }
        };
        if position >= self.last.len() {
            self.last.resize(position + 1, (u32::MAX, NONE));
        }
        self.last[position] = (index, place);
        place
    }

    fn enter(&mut self, index: u32, at: usize) -> u16 {
        let is_reserved = index < self.reserved;
        let count = self.indices.len();
        let waiting = (self.reserved as usize).saturating_sub(self.reserved_ones);
        let has_room = if is_reserved { count < self.limit } else { count < self.room && count + waiting < self.limit };
        if !has_room {
            return NONE;
        }
        self.reserved_ones += usize::from(is_reserved);
        self.indices.push(index);
        self.hashed[at] = count as u16;
        count as u16
    }
}
