"""Random values of a botocore shape, for requests and for answers: every member, boundaries, hostile text.

A value is made of Python's own types as botocore wants them: bytes for blobs, datetime for timestamps."""

import datetime
import string

PLAIN = string.ascii_letters + string.digits + "-_"
HOSTILE = "<>&\"' =?/+%#;:,.[]{}|\\^`~!$*()@\t"
UNICODE = "üßéñΩж日本語\u00a0\u2028\u2029\ufeff\u0301e\u0301🚀𝔘\U0010fffd"
XML_CONTROLS = "\r\n\t\x7f\x85"
CONTROLS = "\x00\x01\x08\x0b\x0c\x1f" + XML_CONTROLS
HEADER = PLAIN + " !#$%&'()*+./:;<=>?@[]^`{|}~"
WORDS = ["", "a", "demo-1", "with space", " lead and trail ", "ü/ö", "a&b=c?d", "<x>\"'&amp;", "]]>", "10.0.0.0/16", "null", "true", "0",
         "arn:aws:iam::111122223333:role/x", "a+b%20c", "..", "//a//b/", "{\"json\": [1, \"two\"]}", "e\u0301", "🚀🚀", "\u2028", "$ref", "-0"]
FLOATS = [0.0, 1.0, -1.0, 0.5, 2.25, 100.125, 100000.0, 1e-7, 0.0001, 1e15, 1e16, 1e21, 123456789.123, 1.7976931348623157e308, 5e-324]
DEEP = 6


class Limits:
    """Where a string will stand decides which characters are legal in it."""

    BODY, XML, HEADER, PATH = range(4)


class Values:
    def __init__(self, chance, full=False, xml=False, answer=False):
        self.chance, self.full, self.xml, self.answer = chance, full, xml, answer

    def of(self, shape):
        return self.value(shape, 0, self.body_place())

    def body_place(self):
        return Limits.XML if self.xml else Limits.BODY

    def place(self, member, outer):
        location = member.serialization.get("location")
        if location in ("header", "headers"):
            return Limits.HEADER
        return Limits.PATH if location == "uri" else outer

    def value(self, shape, depth, place):
        return getattr(self, "make_" + shape.type_name)(shape, depth, place)

    def make_structure(self, shape, depth, place):
        if getattr(shape, "is_document_type", False):
            return {"free": [1, "two", None, {"three": 3.5}]}
        members = [(name, member) for name, member in shape.members.items() if not member.serialization.get("eventstream")]
        if shape.is_tagged_union and members:
            members = [self.chance.choice(members)]
        likely = 0.85 if depth == 0 else max(0.1, 0.6 - 0.15 * depth)
        made = {}
        for name, member in members:
            wanted = name in shape.required_members or shape.is_tagged_union or member.serialization.get("location") == "uri"
            if depth > DEEP and not wanted:
                continue
            if wanted or (self.full and depth < 4) or self.chance.random() < likely:
                if depth > 12:
                    raise RecursionError(shape.name)
                made[name] = self.value(member, depth + 1, self.place(member, place))
        items = list(made.items())
        self.chance.shuffle(items)
        return dict(items)

    def length(self, shape, depth, most):
        low, high = shape.metadata.get("min", 0), shape.metadata.get("max", most)
        low, high = min(low, most), min(max(high, low), most)
        if self.full and depth < 4:
            low = max(low, min(1, high))
        return self.chance.choice([low, high, self.chance.randint(low, high)])

    def make_list(self, shape, depth, place):
        most = 3 if depth < 3 else 1 if depth < DEEP else 0
        return [self.value(shape.member, depth + 1, place) for _ in range(self.length(shape, depth, most))]

    def make_map(self, shape, depth, place):
        most = 3 if depth < 4 else 1
        made = {}
        for _ in range(self.length(shape, depth, most)):
            key = self.value(shape.key, depth + 1, place)
            if place == Limits.HEADER:
                key = "".join(c for c in key if c in PLAIN).lower() or "k"
            made[key] = self.value(shape.value, depth + 1, place)
        return made

    def alphabet(self, place):
        if place == Limits.HEADER:
            return HEADER
        sets = [PLAIN, PLAIN, PLAIN + HOSTILE, PLAIN + UNICODE]
        if place != Limits.PATH:
            sets.append(PLAIN + (XML_CONTROLS if place == Limits.XML else CONTROLS))
        return self.chance.choice(sets)

    def make_string(self, shape, depth, place):
        if shape.enum and self.chance.random() < 0.95:
            return self.chance.choice(shape.enum)
        least = 1 if place in (Limits.PATH, Limits.HEADER) else 0
        if place != Limits.HEADER and self.chance.random() < 0.3:
            word = self.chance.choice(WORDS)
            return word if len(word) >= least else "x"
        low, high = max(least, shape.metadata.get("min", 0)), shape.metadata.get("max", 40)
        high = max(low, min(high, 40))
        length = self.chance.choice([min(low, 2000), high, self.chance.randint(min(low, high), high)])
        alphabet = self.alphabet(place)
        text = "".join(self.chance.choice(alphabet) for _ in range(length))
        return text.strip() or "h" if place == Limits.HEADER else text

    make_character = make_string

    def whole(self, shape, low, high):
        low, high = shape.metadata.get("min", low), shape.metadata.get("max", high)
        low, high = int(low), int(high)
        return self.chance.choice([low, high, min(high, max(low, 0)), min(high, max(low, 1)), self.chance.randint(low, high)])

    def make_integer(self, shape, depth, place):
        return self.whole(shape, -2147483648, 2147483647)

    def make_long(self, shape, depth, place):
        return self.whole(shape, -9223372036854775808, 9223372036854775807)

    def make_float(self, shape, depth, place):
        made = self.chance.choice(FLOATS + [self.chance.uniform(-1000, 1000)])
        return made if self.chance.random() < 0.9 else -made

    make_double = make_float

    def make_boolean(self, shape, depth, place):
        return self.chance.random() < 0.5

    def make_blob(self, shape, depth, place):
        length = self.chance.choice([0, 1, 2, 3, 57, 255])
        return self.chance.choice([b"text", bytes(self.chance.randrange(256) for _ in range(length))])

    def make_timestamp(self, shape, depth, place):
        fraction = self.chance.choice([0, 0, 123000, 999999, 1, 500000])
        year = self.chance.choice([2026, 2026, 2025, 1970, 1969, 1901, 2038, 2106, 2262, 9999])
        made = datetime.datetime(year, self.chance.randint(1, 12), self.chance.randint(1, 28), self.chance.randrange(24),
                                 self.chance.randrange(60), self.chance.randrange(60), fraction, datetime.timezone.utc)
        return made
