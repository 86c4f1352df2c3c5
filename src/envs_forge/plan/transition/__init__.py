"""What actions really do to pass rates: learned from children that were measured, and how far predictions were off."""
