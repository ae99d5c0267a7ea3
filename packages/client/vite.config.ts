import { resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const DAILY = '@daily-co/daily-js'
const EMPTY_DAILY = '\0without-daily'

/**
 * The published transports import a media manager that fetches its code from a CDN when used. The page brings
 * its own media manager, so that import is left empty: the page is smaller and cannot reach for the internet.
 */
function withoutDaily(): Plugin {
  return {
    name: 'without-daily',
    enforce: 'pre',
    resolveId: (id) => (id === DAILY ? EMPTY_DAILY : undefined),
    load: (id) => (id === EMPTY_DAILY ? 'export default {}' : undefined),
  }
}

/** Each page is served from a folder of its own by a server of its own, so they share no file: `--mode cloud` makes the dashboard. */
export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [withoutDaily()],
  ...(mode === 'cloud' && {
    root: resolve(import.meta.dirname, 'src/cloud'),
    publicDir: resolve(import.meta.dirname, 'public'),
  }),
  build: {
    outDir: resolve(import.meta.dirname, mode === 'cloud' ? 'dist/cloud' : 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    chunkSizeWarningLimit: 1000,
    // The wire shapes do nothing by being loaded; the page needs one of them and not the validator of the others.
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !/[/]packages[/]protocol[/]/.test(id) } },
  },
  worker: { format: 'es' },
}))
