"""seen-compare: an old filter and seen's, asked about the same real requests before anybody cuts over."""


class Problem(Exception):
    """This line, request or answer can't be compared. Others can."""


class Stopped(Exception):
    """No further request can be compared. The message has the remedy."""


class WrongArgument(Exception):
    """The message names the option."""
