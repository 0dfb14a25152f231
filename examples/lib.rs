//! Programs that use Onward as a library: see the files beside this one.
