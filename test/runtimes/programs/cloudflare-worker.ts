// A Worker with D1, as its guide shows it, and a second one that calls it as the scheduler of Cloudflare does.
import { type ProviderOptions, storedKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { password } from '@grantry/plugins/password'
import { type D1Binding, d1Driver } from '@grantry/storage-drivers/d1'
import { sha256Of, storeGrant } from '@grantry/testing'
import { createPasswordCheck, hashPassword, parsePasswordHash } from '@grantry/users/password-hash'
import { worker } from '../../../packages/cloudflare/src/index.ts'

interface Environment {
  readonly DB: D1Binding
  readonly KEY_SECRET: string
}

const issuer = 'https://id.example.com'
const redirectUri = 'https://app.example.com/callback'
const check = createPasswordCheck()
let opened = 0
let closed = 0
let storage: ReturnType<typeof d1Driver>

function optionsOf({ DB, KEY_SECRET }: Environment): ProviderOptions {
  opened += 1
  storage = Object.assign(d1Driver({ database: DB }), {
    dispose: () => {
      closed += 1
    },
  })
  const find = async (name: string) =>
    (await DB.prepare('SELECT sub, hash FROM users WHERE name = ?').bind(name).all()).results[0]
  return {
    issuer,
    keys: storedKeys({ algorithms: ['ES256'], encryptionSecret: KEY_SECRET }),
    storage,
    users: {
      authenticate: async ({ username, password: presented }) => {
        const user = await find(username)
        return (await check(presented, parsePasswordHash(String(user?.hash)))) && user !== undefined
          ? { sub: String(user.sub) }
          : undefined
      },
    },
    clients: [
      {
        clientId: 'app',
        secrets: [{ sha256: sha256Of('app-secret') }],
        grantTypes: ['authorization_code', 'password'],
        scopes: ['api1'],
        redirectUris: [redirectUri],
      },
    ],
    scopes: [{ name: 'api1' }],
    plugins: [authorizationCode(), password()],
    // Prints no warning that this program checks no proof keys.
    observe: () => {},
  }
}

const { fetch, scheduled } = worker(optionsOf, {
  async fetch(request, { DB }, _context, provider) {
    switch (new URL(request.url).pathname) {
      case '/user':
        await DB.prepare('CREATE TABLE users (name TEXT PRIMARY KEY, sub TEXT, hash TEXT)').bind().all()
        await DB.prepare('INSERT INTO users VALUES (?, ?, ?)')
          .bind('alice', '1', await hashPassword('alice-password'))
          .all()
        return new Response('created')
      case '/code': {
        const asked = { kind: 'code', clientId: 'app', redirectUri, scopes: ['api1'] } as const
        return new Response(await storeGrant(provider, { ...asked, subject: { sub: '1', amr: ['pwd'] } }))
      }
      case '/expired':
        await storage.setItem('expired', 'x', { ttl: Number.MIN_VALUE })
        return new Response('stored')
      default: {
        const { results } = await DB.prepare('SELECT count(*) AS count FROM grantry_items WHERE ends < ?')
          .bind(Date.now())
          .all()
        return Response.json({ opened, closed, expired: results[0]?.count })
      }
    }
  },
})

// workerd requires a default export.
export default { fetch, scheduled }
