import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PageSets, previewStates } from '@grantry/pages/preview'
import { errorMessage } from '../error-message.ts'
import { isLoopbackHeader } from '../local-address.ts'
import { frameOf, frameScript, frameStyle, type Shown, shownAs, themes, widths } from './frame.ts'
import { loadPages, type PagesSource, watchSource } from './load-pages.ts'

export interface PreviewServer {
  readonly url: string
  close(): Promise<void>
}

const languages = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'zh', 'ja', 'ko', 'ar']

const oneOf = <T extends string>(value: string | null, values: readonly T[]): T | undefined =>
  values.find((known) => known === value)

function shownBy(query: URLSearchParams): Shown {
  return {
    state: previewStates.find(({ name }) => name === query.get('state'))?.name ?? '',
    locale: /^[A-Za-z\d-]{2,35}$/u.exec(query.get('locale') ?? '')?.[0] ?? 'en',
    theme: oneOf(query.get('theme'), themes) ?? 'auto',
    direction: oneOf(query.get('direction'), ['auto', 'ltr', 'rtl']) ?? 'auto',
    width: widths.find((width) => String(width) === query.get('width')) ?? 390,
  }
}

const send = (response: ServerResponse, type: string, body: string, policy = "default-src 'self'"): void => {
  const headers = { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': policy }
  response.writeHead(200, { ...headers, 'cache-control': 'no-store' }).end(body)
}

/** The policy that the provider sends with the page, but in a frame of the preview. */
function policyOf({ style = [], script = [], image = [] }: ReturnType<typeof shownAs>['sources']): string {
  const list = (sources: readonly string[]): string => (sources.length === 0 ? "'none'" : sources.join(' '))
  return `default-src 'none'; style-src ${list(style)}; script-src ${list(script)}; img-src ${list(image)}; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`
}

/**
 * Starts a server on the loopback address that shows every page in every state. It loads the files again after changes.
 *
 * @throws if the port is in use
 */
export async function startPreview(source: PagesSource, port: number): Promise<PreviewServer> {
  let loaded: Promise<PageSets> | undefined
  const streams = new Set<ServerResponse>()
  const unwatch = watchSource(source, () => {
    loaded = undefined
    for (const stream of streams) stream.write('data: changed\n\n')
  })
  const pages = (): Promise<PageSets> => {
    loaded ??= loadPages(source)
    return loaded
  }

  async function sendPage(name: string, shown: Shown, response: ServerResponse): Promise<void> {
    const state = previewStates.find((preview) => preview.name === name)
    if (state === undefined) return void response.writeHead(404).end('There is no such page')
    const { html, sources } = shownAs(state.render(await pages(), shown.locale), shown)
    send(response, 'text/html', html, policyOf(sources))
  }

  async function handle(url: URL, response: ServerResponse): Promise<void> {
    const shown = shownBy(url.searchParams)
    if (url.pathname === '/preview.css') return send(response, 'text/css', frameStyle)
    if (url.pathname === '/preview.js') return send(response, 'text/javascript', frameScript)
    if (url.pathname.startsWith('/page/')) return sendPage(url.pathname.slice('/page/'.length), shown, response)
    if (url.pathname === '/changes') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).write(':\n\n')
      streams.add(response)
      response.on('close', () => streams.delete(response))
      return
    }
    if (url.pathname !== '/') return void response.writeHead(404).end()
    const problem = await pages().then(
      () => undefined,
      (error: unknown) => errorMessage(error),
    )
    send(response, 'text/html', frameOf(shown, [...new Set([...languages, shown.locale])], problem))
  }

  const server = createServer((request, response) => {
    if (!isLoopbackHeader(request.headers.host ?? null)) return void response.writeHead(421).end()
    handle(new URL(request.url ?? '/', 'http://127.0.0.1'), response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
      response.end(errorMessage(error))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${bound}/`,
    async close() {
      unwatch()
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
    },
  }
}
