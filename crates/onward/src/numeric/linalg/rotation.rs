//! Rotations of a plane: what folds rows into triangles (Givens) and finds eigenvectors (Jacobi).

/// By the angle with this cosine and sine, which takes (cosine, sine) to (1, 0).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rotation {
    pub(crate) cosine: f64,
    pub(crate) sine: f64,
}

impl Rotation {
    /// That which takes (a, b) to (length, 0), and the length. Not both may be 0.
    #[inline]
    pub(crate) fn to_first(a: f64, b: f64) -> (f64, Self) {
        let length = (a * a + b * b).sqrt();
        (length, Self { cosine: a / length, sine: b / length })
    }

    /// Rotates a point.
    #[inline]
    pub(crate) fn turn(self, a: &mut f64, b: &mut f64) {
        let Self { cosine, sine } = self;
        (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
    }
}
