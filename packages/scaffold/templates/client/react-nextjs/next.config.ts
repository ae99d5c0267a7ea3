import type { NextConfig } from 'next'

const config: NextConfig = {
  turbopack: {
    // This project is complete, whatever lies in the folders above it.
    root: import.meta.dirname,
    // #if noRoom
    resolveAlias: { '@daily-co/daily-js': './src/talk/no-rooms.ts' },
    // #end
  },
}

export default config
