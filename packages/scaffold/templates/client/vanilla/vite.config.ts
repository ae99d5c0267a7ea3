// #if noRoom
import { fileURLToPath } from 'node:url'
// #end
import { defineConfig } from 'vite'

export default defineConfig({
  // #if noRoom
  resolve: {
    alias: { '@daily-co/daily-js': fileURLToPath(new URL('src/talk/no-rooms.ts', import.meta.url)) },
  },
  // #end
  // #if room
  // One page needs all of its code at once.
  build: { chunkSizeWarningLimit: 1000 },
  // #end
})
