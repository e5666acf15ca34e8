import type { Handler } from '@grantry/core'
import { accessRefusal } from '../console/access.ts'
import { consoleHeaders } from '../console/headers.ts'
import { pageFiles } from '../page-files.ts'

/** Returns the handlers of the application of the demo: its page at `/`, where users return to, and its files. */
export async function demoRoutes(issuer: string): Promise<ReadonlyMap<string, Handler>> {
  const routes = new Map<string, Handler>()
  for (const [name, { text, mediaType }] of await pageFiles('demo')) {
    const file: Handler = async (request, connection) =>
      accessRefusal(request, connection, { issuer, remote: false }) ??
      new Response(text, { headers: { ...consoleHeaders, 'content-type': mediaType } })
    const paths = name === 'index.html' ? ['/', '/demo/callback'] : [`/demo/${name}`]
    for (const path of paths) routes.set(path, file)
  }
  return routes
}
