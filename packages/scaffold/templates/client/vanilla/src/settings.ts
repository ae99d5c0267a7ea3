/** Where the bot's server is; see `.env.example`. */
export const BOT_URL: string = (import.meta.env.VITE_BOT_URL || 'http://localhost:7860').replace(/\/+$/, '')
