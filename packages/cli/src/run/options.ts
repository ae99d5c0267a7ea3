import { TRANSPORT_IDS } from '@botcli/protocol'
import { flag, optional, repeatable, valued } from '../options/option.ts'
import {
  oneOf,
  parseAnnouncedAddress,
  parseDuration,
  parseHost,
  parseMemory,
  parseOrigins,
  parsePorts,
  parseProxy,
  wholeNumber,
} from './values.ts'

/** Every option of `botcli run`. */
export const RUN_OPTIONS = {
  host: valued({
    name: 'host',
    argument: 'HOST',
    default: 'localhost',
    help: 'Address to listen on.',
    parse: parseHost,
  }),
  port: valued({
    name: 'port',
    argument: 'PORT',
    default: '7860',
    help: 'Port to listen on; 0 takes any free one.',
    parse: wholeNumber(0, 65535),
  }),
  transport: optional({
    name: 'transport',
    short: 't',
    argument: 'TRANSPORT',
    default: 'all',
    help: `Serve only this transport, and make it the default of /start: ${TRANSPORT_IDS.join(', ')}.`,
    parse: oneOf(TRANSPORT_IDS),
  }),
  proxy: optional({
    name: 'proxy',
    short: 'x',
    argument: 'HOST',
    help: 'Public host name for telephony webhooks. Needed with -t telephony_a, telephony_b and telephony_c.',
    parse: parseProxy,
  }),
  allowedOrigins: repeatable({
    name: 'allowed-origins',
    argument: 'ORIGINS',
    default: 'BOT_ALLOWED_ORIGINS, else all',
    help: 'Origins that may connect by HTTP and WebSocket, between commas.',
    parse: parseOrigins,
  }),
  wsAuth: valued({
    name: 'ws-auth',
    argument: 'none|token',
    default: 'none',
    help: 'Whether WebSocket clients must bring the token that /start gave them.',
    parse: oneOf(['none', 'token']),
  }),
  esp32: flag({
    name: 'esp32',
    help: 'Answer WebRTC offers as ESP32 boards need it. Needs an IP address in --host.',
  }),
  direct: flag({
    name: 'direct',
    short: 'd',
    help: 'Connect the bot to a room without a web server. Sets -t room.',
  }),
  dialin: flag({ name: 'dialin', help: 'Take calls at /daily-dialin-webhook. Needs ROOM_API_KEY.' }),
  whatsapp: flag({
    name: 'whatsapp',
    help: 'Take calls of the messaging app. Needs the WHATSAPP_ variables.',
  }),
  maxSessions: valued({
    name: 'max-sessions',
    argument: 'N',
    default: '50',
    help: 'Sessions at the same time.',
    parse: wholeNumber(1, 10_000),
  }),
  maxSessionDuration: valued({
    name: 'max-session-duration',
    argument: 'TIME',
    default: '2h',
    help: 'When a session is ended at the latest: 30s, 10m, 2h, or seconds.',
    parse: parseDuration,
  }),
  maxMemory: valued({
    name: 'max-memory',
    argument: 'SIZE',
    default: '2g',
    help: 'Memory beyond which a bot is ended: 512m, 2g.',
    parse: parseMemory,
  }),
  warm: valued({
    name: 'warm',
    argument: 'N',
    default: '2',
    help: 'Bots that wait with your code loaded.',
    parse: wholeNumber(0, 100),
  }),
  isolation: valued({
    name: 'isolation',
    argument: 'process|inline',
    default: 'process',
    help: 'Run each bot in a process of its own, or in this one for breakpoints.',
    parse: oneOf(['process', 'inline']),
  }),
  icePorts: optional({
    name: 'ice-port',
    argument: 'N|N-M',
    default: 'any',
    help: 'UDP port, or range of ports, for WebRTC.',
    parse: parsePorts,
  }),
  announcedAddress: optional({
    name: 'announced-address',
    argument: 'ADDRESS',
    help: 'Address that WebRTC clients are told instead of the ones found, for containers and NAT.',
    parse: parseAnnouncedAddress,
  }),
  verbose: flag({ name: 'verbose', short: 'v', help: 'Log more.' }),
} as const
