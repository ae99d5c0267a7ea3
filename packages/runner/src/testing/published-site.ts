import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build, type Plugin } from 'esbuild'
import type { PublishedClientPage } from './published-client.ts'

/** What a page of the {@link PublishedSite} has, in a browser with an ear. */
export interface PublishedGlobals {
  readonly published: PublishedClientPage
  readonly heardHertz: () => number | undefined
}

/** A site of somebody else, whose page uses the published clients. Another port is another origin. */
export class PublishedSite {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(): Promise<PublishedSite> {
    const script = await bundle()
    const server = createServer((request, response) => {
      const isScript = request.url === '/client.js'
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : '<!doctype html><body><script src="/client.js"></script></body>')
    })
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
    return new PublishedSite(server)
  }

  get url(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/`
  }

  close(): void {
    this.#server.close()
  }
}

/** The media manager that needs this package is not used, and it would load code from elsewhere. */
const withoutDaily: Plugin = {
  name: 'without-daily',
  setup(bundler) {
    bundler.onResolve({ filter: /^@daily-co\// }, ({ path }) => ({ path, namespace: 'empty' }))
    bundler.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'export default {}' }))
  },
}

async function bundle(): Promise<string> {
  const result = await build({
    entryPoints: [`${import.meta.dirname}/published-client.ts`],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    plugins: [withoutDaily],
  })
  return result.outputFiles[0]?.text ?? ''
}
