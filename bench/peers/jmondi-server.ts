// @jmondi/oauth2-server on fastify, set up as documented. It supports only JWTs; for reference tokens, a custom JWT
// service returns the random id of the record.
import { createPrivateKey, timingSafeEqual } from 'node:crypto'
import formbody from '@fastify/formbody'
import { AuthorizationServer, DateInterval } from '@jmondi/oauth2-server'
import { handleFastifyError, handleFastifyReply, requestFromFastify } from '@jmondi/oauth2-server/fastify'
import { fastify, type Reply } from 'fastify'
import jsonwebtoken from 'jsonwebtoken'
import * as o from '../operations.ts'
import { issueMany, reportReady, type Setting } from '../setting.ts'
import { subOf } from '../users.ts'
import {
  type Client,
  clients,
  hashOf,
  type JmondiStore,
  newAuthCode,
  type Scope,
  scopes,
  webClient,
} from './jmondi-store.ts'

const clientRepository = {
  getByIdentifier: async (id: string) => clients.get(id),
  isClientValid: async (grantType: string, client: Client, secret = '') =>
    client.allowedGrants.includes(grantType) &&
    timingSafeEqual(Buffer.from(client.secret), Buffer.from(hashOf(secret))),
}

const scopeRepository = {
  getAllByIdentifiers: async (names: readonly string[]) => scopes.filter(({ name }) => names.includes(name)),
  finalize: async (granted: readonly Scope[]) => granted,
}

const userRepository = {
  /** Without a password, the library asks for the user of a code. */
  async getUserByCredentials(username: string, password: string | undefined, grantType: string) {
    const sub = grantType === 'authorization_code' ? username : subOf(username, password)
    return sub === undefined ? undefined : { id: sub }
  },
}

const withoutUndefined = (payload: object): object => JSON.parse(JSON.stringify(payload))

function jwtOf({ signingKey }: Setting, store: JmondiStore) {
  const key = createPrivateKey({ key: signingKey, format: 'jwk' })
  const { alg, kid } = signingKey
  const options = { algorithm: alg, keyid: kid, header: { typ: 'at+jwt', alg } }
  return {
    async sign(payload: { readonly cid: string; readonly jti: string }) {
      return payload.cid === o.jwtClient[0] ? jsonwebtoken.sign(withoutUndefined(payload), key, options) : payload.jti
    },
    verify: async (token: string) => store.claimsOf(token),
    decode: () => null,
    extraTokenFields: ({ client }: { readonly client: Client }) => ({ client_id: client.id, aud: o.audience }),
  }
}

const lifetime = new DateInterval(`${o.accessTokenLifetime}s`)

function authorizationServerOf(setting: Setting, store: JmondiStore): AuthorizationServer {
  const jwt = jwtOf(setting, store)
  const server = new AuthorizationServer(clientRepository, store.tokens, scopeRepository, jwt, {
    issuer: o.issuer,
    tokenCID: 'id',
    useOpaqueRefreshTokens: true,
    useOpaqueAuthorizationCodes: true,
    requiresPKCE: false,
    authenticateIntrospect: true,
  })
  server.enableGrantTypes(
    ['client_credentials', lifetime],
    ['refresh_token', lifetime],
    [{ grant: 'password', userRepository }, lifetime],
    [{ grant: 'authorization_code', userRepository, authCodeRepository: store.codes }, lifetime],
  )
  return server
}

async function issueOne({ tokens, codes }: JmondiStore, operation: o.PresentingOperation): Promise<string> {
  const granted = o.issuedScopes[operation].map((name) => ({ name }))
  const user = { id: o.user.sub }
  if (operation === 'authorization-code') {
    const code = newAuthCode(webClient, user, granted)
    await codes.persist(code)
    return code.code
  }
  const token = await tokens.issueToken(webClient, granted, user)
  token.accessTokenExpiresAt = lifetime.getEndDate()
  await tokens.persist(token)
  if (operation !== 'refresh') return token.accessToken
  return (await tokens.issueRefreshToken(token)).refreshToken ?? ''
}

/** Starts the server with a store, and reports its port. */
export async function serveJmondi(setting: Setting, store: JmondiStore): Promise<void> {
  const server = authorizationServerOf(setting, store)
  const listener = (respond: (request: object) => Promise<object>) => async (request: object, reply: Reply) => {
    try {
      handleFastifyReply(reply, await respond(requestFromFastify(request)))
    } catch (error) {
      handleFastifyError(error, reply)
    }
    return reply
  }
  const app = fastify({ logger: false })
  app.register(formbody)
  app.post(
    o.paths.token,
    listener((request) => server.respondToAccessTokenRequest(request)),
  )
  app.post(
    o.paths.introspection,
    listener((request) => server.introspect(request)),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  reportReady((app.server.address() as { port: number }).port, async (operation, count) =>
    o.presentsIssued(operation) ? issueMany(count, () => issueOne(store, operation)) : [],
  )
}
