"""Classic control: small systems of mechanics, as Gymnasium has them."""
