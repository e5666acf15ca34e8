import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as o from '../operations.ts'
import { issueMany, readSetting, reportReady } from '../setting.ts'
import * as parts from './limit-parts.ts'

/** A store with the fewest trips in which a refresh token or a code works only once, and its replay is detected. */
export interface LimitStore {
  /** Returns the value of an item that is there. One trip. */
  read(key: string): Promise<string | null>
  /** Stores items in one trip. */
  put(...items: readonly parts.Item[]): Promise<unknown>
  /**
   * Marks a credential as spent and stores new items. Of concurrent requests, one succeeds.
   *
   * @param use returns the new items; throws when the credential is invalid
   */
  redeem(key: string, use: (value: string | null) => readonly parts.Item[]): Promise<unknown>
}

/** Serves the minimal work of a correct server for each operation. */
export function serveLimit(openStore: (url: string) => LimitStore): void {
  const setting = readSetting()
  const limit = parts.createLimitParts(setting)
  const store = openStore(setting.storeUrl ?? '')

  /** Returns a response with a new refresh token and a new access token, and their items. */
  function newTokens(clientId: string, scope: string, sub: string) {
    const access = limit.accessToken(clientId, scope, sub)
    const refresh = limit.refreshToken(clientId, scope, sub)
    return {
      body: limit.response(access.token, scope, refresh.token),
      items: access.item === undefined ? [refresh.item] : [access.item, refresh.item],
    }
  }

  async function clientCredentials(clientId: string, scope: string): Promise<string> {
    const { token, item } = limit.accessToken(clientId, scope)
    if (item !== undefined) await store.put(item)
    return limit.response(token, scope)
  }

  async function login(clientId: string, scope: string, parameters: URLSearchParams): Promise<string> {
    const { body, items } = newTokens(clientId, scope, parts.loginOf(parameters))
    await store.put(...items)
    return body
  }

  async function redemption(clientId: string, isCode: boolean, parameters: URLSearchParams): Promise<string> {
    const presented = parameters.get(isCode ? 'code' : 'refresh_token') ?? ''
    let response = ''
    await store.redeem(parts.keyOf(presented), (value) => {
      const claims = parts.liveClaims(value, clientId)
      if (isCode) parts.checkRedirect(parameters, claims)
      const { body, items } = newTokens(clientId, claims.scope, claims.sub ?? '')
      response = body
      return items
    })
    return response
  }

  async function tokenResponse(authorization: string, form: string): Promise<string> {
    const parameters = new URLSearchParams(form)
    const clientId = limit.authenticate(authorization)
    const grantType = parameters.get('grant_type')
    const requested = parameters.get('scope') ?? ''
    if (grantType === 'client_credentials') return clientCredentials(clientId, requested)
    if (grantType === 'password') return login(clientId, requested, parameters)
    return redemption(clientId, grantType === 'authorization_code', parameters)
  }

  const live = async (token: string): Promise<parts.Claims> => parts.liveClaims(await store.read(parts.keyOf(token)))

  async function introspection(authorization: string, form: string): Promise<string> {
    const scope = limit.authenticate(authorization)
    return parts.introspectionResponse(await live(new URLSearchParams(form).get('token') ?? ''), scope)
  }

  const userinfo = async (authorization: string): Promise<string> =>
    parts.userinfoResponse(await live(authorization.slice(7)))

  const server = createServer((req: IncomingMessage, res) => {
    const { authorization = '' } = req.headers
    if (req.method === 'GET') return void end(res, userinfo(authorization))
    const respond = req.url === o.paths.introspection ? introspection : tokenResponse
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => void end(res, respond(authorization, Buffer.concat(chunks).toString())))
  })

  server.listen(0, '127.0.0.1', () =>
    reportReady((server.address() as AddressInfo).port, async (operation, count) => {
      if (!o.presentsIssued(operation)) return []
      return issueMany(count, async () => {
        const { token, item } = parts.issuedItem(limit, operation)
        if (item !== undefined) await store.put(item)
        return token
      })
    }),
  )
}

async function end(res: ServerResponse, work: Promise<string>): Promise<void> {
  try {
    const body = await work
    res.writeHead(200, { ...parts.headers, 'content-length': Buffer.byteLength(body) })
    res.end(body)
  } catch (error) {
    res.writeHead(400, parts.headers).end(String(error))
  }
}
