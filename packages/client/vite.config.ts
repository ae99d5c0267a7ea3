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

export default defineConfig({
  base: './',
  plugins: [withoutDaily()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: false,
    chunkSizeWarningLimit: 1000,
    // The wire shapes do nothing by being loaded; the page needs one of them and not the validator of the others.
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !/[/]packages[/]protocol[/]/.test(id) } },
  },
  worker: { format: 'es' },
})
