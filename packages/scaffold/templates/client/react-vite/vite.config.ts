// #if noRoom
import { fileURLToPath } from 'node:url'
// #end
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // #if noRoom
  resolve: {
    alias: { '@daily-co/daily-js': fileURLToPath(new URL('src/talk/no-rooms.ts', import.meta.url)) },
  },
  // #end
  // One page needs all of its code at once.
  build: { chunkSizeWarningLimit: 1000 },
})
