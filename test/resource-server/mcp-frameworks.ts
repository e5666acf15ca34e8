import * as express from '../../packages/resource-server/src/express.ts'
import * as fastify from '../../packages/resource-server/src/fastify.ts'
import * as hono from '../../packages/resource-server/src/hono.ts'
import { type AuthInfo, type McpAuthOptions, mcpAuth } from '../../packages/resource-server/src/index.ts'
import { audience } from './issuer.ts'

// mcpAuth() with the parts of frameworks that it uses.

/** What becomes of a request. */
interface Outcome {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The token that the MCP server gets. */
  readonly authInfo: AuthInfo | undefined
  /** Whether the next handler is called. */
  readonly isPassedOn: boolean
}

export type Sent = {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}
export type Send = (options: McpAuthOptions, sent: Sent) => Promise<Outcome>

const rawOf = ({ headers = {} }: Sent): string[] => Object.entries(headers).flat()
const ended = (status: number, headers: Headers, body: string): Outcome => ({
  status,
  headers,
  body,
  authInfo: undefined,
  isPassedOn: false,
})
const passed = (headers: Headers, authInfo: unknown): Outcome => ({
  status: 200,
  headers,
  body: '',
  authInfo: authInfo as AuthInfo | undefined,
  isPassedOn: true,
})

const sendExpress: Send = (options, sent) =>
  new Promise((resolve, reject) => {
    const { method = 'POST', path = '/mcp' } = sent
    // As below `app.use('/mcp', …)`, which removes the path.
    const req = { method, url: '/', originalUrl: path, rawHeaders: rawOf(sent), auth: undefined }
    const headers = new Headers()
    const end = (body: string) => resolve(ended(res.statusCode, headers, body))
    const res = { statusCode: 200, setHeader: (name: string, value: string) => headers.set(name, value), end }
    express.mcpAuth(options)(req, res, (error) => {
      if (error !== undefined) reject(error)
      else resolve(passed(headers, req.auth))
    })
  })

const sendFastify: Send = async (options, sent) => {
  const { method = 'POST', path = '/mcp' } = sent
  const headers = new Headers()
  let [status, body] = [200, '']
  const setHeader = (name: string, value: string) => headers.set(name, value)
  const reply = {
    raw: { setHeader },
    header: setHeader,
    code: (code: number) => {
      status = code
    },
    send: (text: string) => {
      body = text
      return reply
    },
  }
  const raw = { method, rawHeaders: rawOf(sent), auth: undefined }
  const result = await fastify.mcpAuth(options)({ raw, originalUrl: path }, reply)
  return result === reply ? ended(status, headers, body) : passed(headers, raw.auth)
}

const requestOf = ({ method = 'POST', path = '/mcp', headers = {} }: Sent): Request =>
  new Request(`${audience}${path}`, { method, headers })

const sendHono: Send = async (options, sent) => {
  const headers = new Headers()
  const c = { req: { raw: requestOf(sent) }, header: (name: string, value: string) => headers.set(name, value) }
  let isPassedOn = false
  const response = await hono.mcpAuth(options)(c, async () => {
    isPassedOn = true
  })
  if (response !== undefined) return ended(response.status, response.headers, await response.text())
  if (!isPassedOn) throw new Error('neither a response nor the next handler')
  return passed(headers, hono.authInfoOf(c))
}

const sendFetch: Send = async (options, sent) => {
  let passedOn: AuthInfo | undefined
  const response = await mcpAuth(options, (_request, { authInfo }) => {
    passedOn = authInfo
    return new Response('', { headers: { 'mcp-session-id': '7' } })
  })(requestOf(sent))
  if (passedOn !== undefined) return passed(response.headers, passedOn)
  return ended(response.status, response.headers, await response.text())
}

/** Sends a request through `mcpAuth()`. */
export const senders = [
  ['Express', sendExpress],
  ['Fastify', sendFastify],
  ['Hono', sendHono],
  ['Fetch', sendFetch],
] as const
