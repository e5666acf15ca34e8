// The minimal work of a correct server on Redis for each operation: the fewest commands and trips with which a
// refresh token or a code can be used only once, and its replay is detected.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import * as o from '../operations.ts'
import { issueMany, readSetting, reportReady } from '../setting.ts'
import * as parts from './limit-parts.ts'

const setting = readSetting()
const limit = parts.createLimitParts(setting)
const redis = new Redis(setting.redisUrl ?? '', { enableAutoPipelining: true })

interface NewToken {
  readonly token: string
  readonly item?: parts.Item
}

const put = ({ item }: NewToken): Promise<unknown> | undefined =>
  item && redis.set(item.key, item.value, 'EX', item.lifetime)

const live = async (token: string): Promise<parts.Claims> => parts.liveClaims(await redis.get(parts.keyOf(token)))

const spentMarker = JSON.stringify({ spent: true, exp: Number.MAX_SAFE_INTEGER })

/** Replaces the record by a marker and returns it, in one command: of concurrent requests, one gets the record. */
const spend = async (presented: string, clientId: string): Promise<parts.Claims> =>
  parts.liveClaims(await redis.set(parts.keyOf(presented), spentMarker, 'KEEPTTL', 'XX', 'GET'), clientId)

/** Stores a new refresh record and a new access record, in one trip. */
async function issueBoth(clientId: string, scope: string, sub: string): Promise<string> {
  const access = limit.accessToken(clientId, scope, sub)
  const refresh = limit.refreshToken(clientId, scope, sub)
  await Promise.all([put(access), put(refresh)])
  return limit.response(access.token, scope, refresh.token)
}

async function tokenResponse(authorization: string, form: string): Promise<string> {
  const parameters = new URLSearchParams(form)
  const clientId = limit.authenticate(authorization)
  const grantType = parameters.get('grant_type')
  const requested = parameters.get('scope') ?? ''
  if (grantType === 'client_credentials') {
    const access = limit.accessToken(clientId, requested)
    await put(access)
    return limit.response(access.token, requested)
  }
  if (grantType === 'password') return issueBoth(clientId, requested, parts.loginOf(parameters))
  const isCode = grantType === 'authorization_code'
  const claims = await spend(parameters.get(isCode ? 'code' : 'refresh_token') ?? '', clientId)
  if (isCode) parts.checkRedirect(parameters, claims)
  return issueBoth(clientId, claims.scope, claims.sub ?? '')
}

async function introspection(authorization: string, form: string): Promise<string> {
  const scope = limit.authenticate(authorization)
  return parts.introspectionResponse(await live(new URLSearchParams(form).get('token') ?? ''), scope)
}

const userinfo = async (authorization: string): Promise<string> =>
  parts.userinfoResponse(await live(authorization.slice(7)))

async function end(res: ServerResponse, work: Promise<string>): Promise<void> {
  try {
    const body = await work
    res.writeHead(200, { ...parts.headers, 'content-length': Buffer.byteLength(body) })
    res.end(body)
  } catch (error) {
    res.writeHead(400, parts.headers).end(String(error))
  }
}

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
      const issued = parts.issuedItem(limit, operation)
      await put(issued)
      return issued.token
    })
  }),
)
