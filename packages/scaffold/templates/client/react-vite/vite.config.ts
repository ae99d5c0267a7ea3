import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // #if noRoom
  resolve: {
    alias: { '@daily-co/daily-js': `${import.meta.dirname}/src/talk/no-rooms.ts` },
  },
  // #end
  // One page needs all of its code at once.
  build: { chunkSizeWarningLimit: 1000 },
})
