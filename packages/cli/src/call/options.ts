import { CARRIER_IDS } from '@botcli/protocol'
import { parseAgentName } from '../agent/agent-name.ts'
import { flag, optional, repeatable, valued } from '../options/option.ts'
import { oneOf, parseOrigin, wholeNumber } from '../run/values.ts'
import { KEY_OPTION } from '../session/key-option.ts'
import {
  lengthOfTime,
  parseFile,
  parseJsonObject,
  parseKeys,
  parseMisbehaviour,
  parseNumber,
  parseParameter,
} from './values.ts'

const HOUR_MS = 3_600_000

/** Every option of `botcli call`. */
export const CALL_OPTIONS = {
  carrier: valued({
    name: 'as',
    argument: 'CARRIER',
    default: 'telephony_a',
    help: `The carrier to play: ${CARRIER_IDS.join(', ')}.`,
    parse: oneOf(CARRIER_IDS),
  }),
  agent: optional({
    name: 'agent',
    argument: 'NAME',
    help: 'Call this agent of the cloud that you are signed in to, instead of a URL.',
    parse: parseAgentName,
  }),
  key: { ...KEY_OPTION, help: `For --agent. ${KEY_OPTION.help}` },
  say: repeatable({
    name: 'say',
    argument: 'FILE',
    help: 'Say what is in this WAV file (16-bit PCM).',
    parse: (text) => [parseFile(text)],
  }),
  speech: repeatable({
    name: 'speech',
    argument: 'TIME',
    help: 'Say something that sounds like speech, for so long: 2s, 500ms.',
    parse: (text) => [lengthOfTime(100, HOUR_MS)(text)],
  }),
  keys: repeatable({
    name: 'keys',
    argument: 'KEYS',
    help: 'Press these keys: 0-9, *, #, A-D.',
    parse: (text) => [parseKeys(text)],
  }),
  interrupt: flag({
    name: 'interrupt',
    help: 'Do not let the bot finish: each step comes a second after it began to speak.',
  }),
  limit: valued({
    name: 'for',
    argument: 'TIME',
    default: '30s',
    help: 'Hang up after this long at the latest.',
    parse: lengthOfTime(500, HOUR_MS),
  }),
  from: valued({
    name: 'from',
    argument: 'NUMBER',
    default: '+15550100',
    help: 'The number that calls.',
    parse: parseNumber,
  }),
  to: valued({
    name: 'to',
    argument: 'NUMBER',
    default: '+15550199',
    help: 'The number that is called.',
    parse: parseNumber,
  }),
  params: repeatable({
    name: 'param',
    argument: 'NAME=VALUE',
    help: 'A parameter that the carrier hands on to the bot.',
    parse: (text) => [parseParameter(text)],
  }),
  body: optional({
    name: 'body',
    argument: 'JSON',
    help: 'Data for the bot: POST it to /start first, then call the wsUrl that it answers.',
    parse: parseJsonObject,
  }),
  origin: optional({
    name: 'origin',
    argument: 'ORIGIN',
    help: 'Origin to show, for a runner with --allowed-origins. Carriers show none.',
    parse: parseOrigin,
  }),
  codec: optional({
    name: 'codec',
    argument: 'CODEC',
    default: "the carrier's",
    help: 'How sound is coded where the carrier can choose: pcmu, pcma, l16.',
    parse: oneOf(['pcmu', 'pcma', 'l16']),
  }),
  rate: optional({
    name: 'rate',
    argument: 'HERTZ',
    default: "the carrier's",
    help: 'Samples a second where the carrier can choose: 8000, 16000, 24000.',
    parse: wholeNumber(8000, 48_000),
  }),
  save: optional({
    name: 'save',
    argument: 'FILE',
    help: 'Save what the caller heard as a WAV file, from the moment of dialling.',
    parse: parseFile,
  }),
  saveBoth: optional({
    name: 'save-both',
    argument: 'FILE',
    help: 'The same in stereo: the caller on the left, the bot on the right.',
    parse: parseFile,
  }),
  misbehaviours: repeatable({
    name: 'misbehave',
    argument: 'NAME[=VALUE]',
    help: 'Be a bad carrier, in one of the ways below.',
    parse: (text) => [parseMisbehaviour(text)],
  }),
  seed: valued({
    name: 'seed',
    argument: 'N',
    default: '1',
    help: 'Speech and misbehaviour are the same for the same seed.',
    parse: wholeNumber(0, 999_999_999),
  }),
  json: flag({ name: 'json', help: 'Print the time line as JSON, a line for each event, then the summary.' }),
} as const
