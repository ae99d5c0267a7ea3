import { defineConfig } from 'vite'

export default defineConfig({
  // #if noRoom
  resolve: {
    alias: { '@daily-co/daily-js': `${import.meta.dirname}/src/talk/no-rooms.ts` },
  },
  // #end
  // #if room
  // One page needs all of its code at once.
  build: { chunkSizeWarningLimit: 1000 },
  // #end
})
