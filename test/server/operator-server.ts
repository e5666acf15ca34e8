import { createHash, scryptSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { sharedDirectory } from '../support/directory.ts'
import { startServer } from '../support/patient-server.ts'
import { keySet } from './doctor/configurations.ts'

export const base = sharedDirectory('operator')

const sha256 = (secret: string) => ({ sha256: createHash('sha256').update(secret).digest('base64') })
// The cheapest allowed hash: these tests are not about passwords.
const salt = Buffer.from('0123456789abcdef')
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
const hash = scryptSync('alice-password', salt, 32, { N: 1024, r: 8, p: 1 })
const password = `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(hash)}`

function configuration(storage: object): object {
  const grantTypes = ['client_credentials', 'password', 'refresh_token']
  const client = { secrets: [sha256('web-secret')], grantTypes, scopes: ['openid', 'offline_access', 'api1'] }
  return {
    issuer: 'http://127.0.0.1:8484',
    storage,
    keys: { jwks: './keys.json' },
    clients: [
      { ...client, clientId: 'web', accessTokenFormat: 'reference' },
      { ...client, clientId: 'web-jwt' },
    ],
    scopes: [{ name: 'api1', secrets: [sha256('api1-secret')] }],
    users: [{ sub: '1', username: 'alice', password }],
  }
}

let count = 0
/** Writes a configuration with this storage to a file. */
export function file(storage: object): string {
  count += 1
  const path = join(base, `c${count}.json`)
  writeFileSync(path, JSON.stringify(configuration(storage)))
  writeFileSync(join(base, 'keys.json'), keySet, { mode: 0o600 })
  return path
}
export const directories = () => ({ driver: 'filesystem', directory: mkdtempSync(join(base, 'data-')), fsync: false })

/** A server in this process, until the test finishes. The commands open their own storage on the same files or Redis. */
export async function serve(path: string) {
  const server = await startServer({ loaded: await loadConfiguration(path, {}), port: 0, observe: () => {} })
  onTestFinished(() => server.close(0))
  const origin = `http://127.0.0.1:${server.running.port}`
  const post = async (endpoint: string, form: Record<string, string>, [id, secret] = ['web', 'web-secret']) => {
    const authorization = `Basic ${btoa(`${id}:${secret}`)}`
    const response = await fetch(`${origin}/connect/${endpoint}`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: await response.json() }
  }
  const login = {
    grant_type: 'password',
    username: 'alice',
    password: 'alice-password',
    scope: 'openid offline_access api1',
  }
  const { provider } = server
  return {
    inspect: provider.inspect,
    login: async (id = 'web') => (await post('token', login, [id, 'web-secret'])).body,
    isActive: async (token: string) => (await post('introspect', { token }, ['api1', 'api1-secret'])).body.active,
    refresh: async (token: string, id = 'web') =>
      (await post('token', { grant_type: 'refresh_token', refresh_token: token }, [id, 'web-secret'])).status,
  }
}
