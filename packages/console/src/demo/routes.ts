import type { Handler } from '@grantry/core'
import { guarded, type RefuseCaller } from '../guarded.ts'
import { consoleHeaders } from '../headers.ts'
import { pageFiles } from '../page-files.ts'

/** Returns the handlers of the application of the demo: its page at `/`, where users return to, and its files. */
export async function demoRoutes(refuse: RefuseCaller): Promise<ReadonlyMap<string, Handler>> {
  const routes = new Map<string, Handler>()
  for (const [name, { text, mediaType }] of await pageFiles('demo')) {
    const file = guarded(
      refuse,
      () => new Response(text, { headers: { ...consoleHeaders, 'content-type': mediaType } }),
    )
    const paths = name === 'index.html' ? ['/', '/demo/callback'] : [`/demo/${name}`]
    for (const path of paths) routes.set(path, file)
  }
  return routes
}
