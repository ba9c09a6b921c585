"""What a learner keeps: the library of exercises that pass, and the code of the chapters."""
