const WHAT_I_AM =
  'Hello! I am a small demo bot. I need no key and no cloud. I cannot understand spoken words, but I notice when you speak.'

/** The first thing a caller with a screen hears. */
export const GREETING = `${WHAT_I_AM} Say something, type help, or press 0.`

/** The first thing a caller on the phone hears. */
export const PHONE_GREETING = `${WHAT_I_AM} Say something, or press 0 for help.`

export const HELP =
  'I can tell the time and the date, tell a joke, flip a coin, count to a number, and repeat what you type. Type echo to hear your own voice, or bye to hang up.'

export const KEY_HELP =
  'Press 1 to hear your own voice, 2 for the time, 3 for a joke, 4 to flip a coin, 5 to count, or hash to hang up.'

export const ABOUT =
  'I am the demo bot. I follow a few simple rules, and my voice is called Flite. Type help to see what I can do.'

/** Phrases that vary. `{length}` stands for how long the caller spoke. */
export const PHRASES = {
  hello: ['Hello! Nice to meet you.', 'Hi there!', 'Hello to you too!'],
  goodbye: ['Goodbye! It was nice to hear you.', 'Goodbye, and take care!'],
  thanks: ['You are welcome.', 'My pleasure.'],
  unknown: [
    'I do not know that one. Type help to see what I can do.',
    'That is beyond my few rules. Type help, and I will list them.',
    'Sorry, I am a very small bot. Try help.',
  ],
  interrupted: [
    'I stopped, because you spoke.',
    'You cut in, and I stopped.',
    'No need to wait for me, I stopped.',
  ],
  shortSpeech: ['That was short, {length}.', 'A quick one, {length}.'],
  speech: [
    'I heard you for {length}.',
    'You spoke for {length}.',
    'That was {length} of speech.',
    'Thank you for {length}.',
  ],
  longSpeech: [
    'You spoke for {length}. I wish I knew what about.',
    'That was a long one, {length}. You have a lot to say!',
  ],
  loudSpeech: ['That was loud! I heard you for {length}.', 'Wow, what a voice! That was {length}.'],
  quietSpeech: ['I heard you for {length}, but very quietly.', 'That was {length}, almost a whisper.'],
  joke: [
    'Why did the robot go on holiday? It needed to recharge.',
    'I told my computer I needed a break. It said, no problem, I will go to sleep.',
    'Why was the cell phone wearing glasses? It had lost its contacts.',
    'There are 10 kinds of people. Those who know binary, and those who do not.',
    'I would tell you a joke about packets, but you might not get it.',
  ],
  coin: ['I flip a coin. Heads!', 'I flip a coin. Tails!'],
  nothingHeard: ['I have not heard you speak yet. Say something first.'],
  echo: ['Here is what I heard.', 'This is how you sound.'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** The numbers that the bot can count, as words: the voice spells some numerals digit by digit. */
export const NUMBERS: readonly string[] = [
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
  'twenty',
]
