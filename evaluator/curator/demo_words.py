"""Words and small facts that the demo benchmark is drawn from. Common knowledge, nothing to license."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NAMES = _words(
    "Adam Alma Anna Ben Carl Clara Dana David Elsa Emil Emma Eva Finn Frank Greta Hanna Hugo Ida Ivan Jack Jane Karl "
    "Kate Lara Leo Lily Lucy Mark Maria Max Mila Nina Noah Olga Oscar Paul Rita Rosa Ruth Sam Sara Tom Vera"
)

CITIES = _words(
    "Athens Berlin Boston Cairo Chicago Dublin Geneva Hamburg Havana Lima Lisbon London Madrid Miami Milan Moscow "
    "Munich Oslo Paris Prague Rome Seattle Sydney Tokyo Venice Vienna Warsaw Zurich"
)

NOUNS = _words(
    "bag ball bell book bottle bowl box brick brush bucket button candle card clock cloud coin cup door fork glass "
    "house key knife lamp letter map mirror needle paper pen pencil phone picture pillow plate ring road rock rope "
    "spoon stamp stone street ticket towel umbrella wall watch wheel window"
)

KINDS = {
    "animal": _words("cat cow dog duck fox frog goat horse lion mouse pig rabbit shark sheep snake tiger wolf zebra"),
    "fruit": _words("apple banana cherry grape lemon mango melon orange peach pear plum strawberry"),
    "color": _words("black blue brown green pink purple red white yellow"),
    "drink": _words("beer coffee juice milk tea water wine"),
    "body part": _words("arm ear eye foot hand knee leg nose"),
    "planet": _words("Jupiter Mars Mercury Neptune Saturn Uranus Venus"),
    "furniture": _words("bed chair desk sofa table"),
    "flower": _words("daisy lily orchid rose tulip"),
    "metal": _words("copper gold iron silver steel"),
    "clothing": _words("coat dress hat jacket shirt shoe skirt sock"),
    "sport": _words("baseball football golf hockey tennis"),
    "vehicle": _words("bicycle boat bus car plane ship train truck"),
}
"""Words that are told apart by what they are. Each stands in one list only."""

LOOK_ALIKE = {
    "color": {"fruit", "metal", "flower", "drink"},
    "fruit": {"color"},
    "metal": {"color", "planet"},
    "flower": {"color"},
    "drink": {"color"},
    "planet": {"metal"},
}
"""Kinds whose words could be taken for each other: an orange is a color too, and Mercury a metal."""

CAPITALS = {
    "Austria": "Vienna", "Belgium": "Brussels", "Canada": "Ottawa", "China": "Beijing", "Cuba": "Havana",
    "Denmark": "Copenhagen", "Egypt": "Cairo", "England": "London", "Finland": "Helsinki", "France": "Paris",
    "Germany": "Berlin", "Greece": "Athens", "Hungary": "Budapest", "India": "New Delhi", "Iran": "Tehran",
    "Ireland": "Dublin", "Italy": "Rome", "Japan": "Tokyo", "Kenya": "Nairobi", "Mexico": "Mexico City",
    "Norway": "Oslo", "Peru": "Lima", "Poland": "Warsaw", "Portugal": "Lisbon", "Russia": "Moscow",
    "Spain": "Madrid", "Sweden": "Stockholm", "Thailand": "Bangkok", "Turkey": "Ankara",
}  # fmt: skip

LANGUAGES = {
    "Brazil": "Portuguese", "China": "Chinese", "Denmark": "Danish", "England": "English", "Finland": "Finnish",
    "France": "French", "Germany": "German", "Greece": "Greek", "Hungary": "Hungarian", "Italy": "Italian",
    "Japan": "Japanese", "Mexico": "Spanish", "Norway": "Norwegian", "Poland": "Polish", "Portugal": "Portuguese",
    "Russia": "Russian", "Spain": "Spanish", "Sweden": "Swedish", "Turkey": "Turkish", "Vietnam": "Vietnamese",
}  # fmt: skip

CONTINENTS = {
    "Algeria": "Africa", "Argentina": "South America", "Austria": "Europe", "Brazil": "South America",
    "Chile": "South America", "China": "Asia", "Egypt": "Africa", "France": "Europe", "Ghana": "Africa",
    "Germany": "Europe", "India": "Asia", "Italy": "Europe", "Japan": "Asia", "Kenya": "Africa", "Morocco": "Africa",
    "Nepal": "Asia", "Nigeria": "Africa", "Norway": "Europe", "Peru": "South America", "Poland": "Europe",
    "Spain": "Europe", "Sweden": "Europe", "Thailand": "Asia", "Vietnam": "Asia",
}  # fmt: skip

OPPOSITES: dict[str, str | tuple[str, ...]] = {
    "big": ("small", "little"), "black": "white", "clean": "dirty", "cold": ("hot", "warm"), "day": "night",
    "deep": "shallow", "dry": "wet", "early": "late", "east": "west", "easy": ("hard", "difficult"),
    "empty": "full", "fast": "slow", "good": ("bad", "evil"), "happy": ("sad", "unhappy"), "heavy": "light",
    "high": "low", "hot": "cold", "inside": "outside", "left": "right", "long": "short", "loud": ("quiet", "soft"),
    "love": "hate", "new": "old", "north": "south", "old": ("young", "new"), "open": ("closed", "shut"),
    "rich": "poor", "strong": "weak", "thick": "thin", "true": "false", "up": "down", "win": "lose", "yes": "no",
}  # fmt: skip

PLURALS = {
    "apple": "apples", "baby": "babies", "book": "books", "box": "boxes", "bus": "buses", "car": "cars",
    "child": "children", "city": "cities", "cow": "cows", "dog": "dogs", "dress": "dresses", "foot": "feet",
    "fox": "foxes", "glass": "glasses", "goose": "geese", "horse": "horses", "house": "houses", "key": "keys",
    "knife": "knives", "lady": "ladies", "leaf": "leaves", "man": "men", "mouse": "mice", "pen": "pens",
    "potato": "potatoes", "river": "rivers", "story": "stories", "table": "tables", "tooth": "teeth", "tree": "trees",
    "wolf": "wolves", "woman": "women",
}  # fmt: skip

PASTS = {
    "begin": "began", "break": "broke", "buy": "bought", "come": "came", "dance": "danced", "drink": "drank",
    "eat": "ate", "find": "found", "fly": "flew", "give": "gave", "go": "went", "help": "helped", "jump": "jumped",
    "know": "knew", "look": "looked", "make": "made", "open": "opened", "paint": "painted", "play": "played",
    "run": "ran", "see": "saw", "sing": "sang", "sleep": "slept", "speak": "spoke", "start": "started",
    "swim": "swam", "take": "took", "talk": "talked", "think": "thought", "wait": "waited", "wash": "washed",
    "work": "worked", "write": "wrote",
}  # fmt: skip

COMPARATIVES = {
    "bad": "worse", "bright": "brighter", "cheap": "cheaper", "clean": "cleaner", "cold": "colder", "dark": "darker",
    "deep": "deeper", "fast": "faster", "good": "better", "hard": "harder", "high": "higher", "hot": "hotter",
    "kind": "kinder", "large": "larger", "late": "later", "long": "longer", "loud": "louder", "new": "newer",
    "old": "older", "rich": "richer", "short": "shorter", "slow": "slower", "small": "smaller", "soft": "softer",
    "strong": "stronger", "tall": "taller", "warm": "warmer", "weak": "weaker", "young": "younger",
}  # fmt: skip

ADVERBS = {
    word: f"{word}ly"
    for word in _words("bad brave calm clear deep kind loud nice polite poor proud quick quiet rude sad safe slow soft "
                       "sudden sweet warm weak wide wise")
}  # fmt: skip

DOERS = {
    f"{verb}s": doer
    for verb, doer in (pair.split("/") for pair in _words(
        "build/builder clean/cleaner farm/farmer help/helper hunt/hunter lead/leader paint/painter play/player "
        "print/printer read/reader report/reporter sing/singer speak/speaker teach/teacher train/trainer work/worker "
        "dance/dancer drive/driver write/writer bake/baker"
    ))
}  # fmt: skip

SYMBOLS = {
    "carbon": "C", "calcium": "Ca", "chlorine": "Cl", "copper": "Cu", "gold": "Au", "helium": "He", "hydrogen": "H",
    "iron": "Fe", "lead": "Pb", "magnesium": "Mg", "neon": "Ne", "nitrogen": "N", "silver": "Ag", "sodium": "Na",
    "sulfur": "S", "zinc": "Zn",
}  # fmt: skip

COMPOUNDS = {
    "sun + flower": "sunflower", "rain + bow": "rainbow", "foot + ball": "football", "tooth + brush": "toothbrush",
    "snow + man": "snowman", "book + shop": "bookshop", "moon + light": "moonlight", "fire + man": "fireman",
    "bath + room": "bathroom", "bed + room": "bedroom", "note + book": "notebook", "butter + fly": "butterfly",
    "hand + bag": "handbag", "sea + side": "seaside", "air + port": "airport", "news + paper": "newspaper",
    "wind + mill": "windmill", "black + bird": "blackbird", "class + room": "classroom", "eye + brow": "eyebrow",
}  # fmt: skip

MONTHS = _words("January February March April May June July August September October November December")

NUMBERS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)

CAN = {
    "birds fly": "yes", "fish swim": "yes", "dogs bark": "yes", "cats climb": "yes", "horses run": "yes",
    "babies cry": "yes", "frogs jump": "yes", "people talk": "yes", "bees fly": "yes", "snakes crawl": "yes",
    "stones talk": "no", "tables sing": "no", "cars eat": "no", "trees walk": "no", "books swim": "no",
    "shoes sleep": "no", "lamps dance": "no", "pens read": "no", "walls run": "no", "spoons fly": "no",
}  # fmt: skip
