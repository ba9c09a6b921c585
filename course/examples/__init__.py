"""What a chapter examines ready-made: wrong layers (chapter 03), and two trained GPTs (chapter 17)."""
