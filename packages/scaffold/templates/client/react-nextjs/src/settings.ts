/** What the page is called. */
export const TITLE = '{{title}}'

/** Where the bot's server is; see `.env.example`. */
export const BOT_URL: string = (process.env.NEXT_PUBLIC_BOT_URL || 'http://localhost:7860').replace(
  /\/+$/,
  '',
)
