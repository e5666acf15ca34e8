import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding } from '../../../packages/server/src/check-rules/rule.ts'

/** Not guessable, and the same in each run. */
export const strong = (name: string): string => createHash('sha256').update(`strong ${name}`).digest('base64url')

export const hashed = (secret: string, algorithm: 'sha256' | 'sha512' = 'sha256') => ({
  [algorithm]: createHash(algorithm).update(secret).digest('base64'),
})

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const keySet = JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] })

export const client = {
  clientId: 'web',
  secrets: [hashed(strong('web'))],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}

/** A configuration without findings. */
export const healthy = {
  issuer: 'https://id.example.com',
  storage: { driver: 'filesystem', directory: './data' },
  keys: { jwks: './keys.json' },
  clients: [client],
  scopes: [{ name: 'api1', secrets: [hashed(strong('api1'))] }],
  endpoints: { accessTokenValidation: false },
  trustedProxies: 1,
}

export const withClient = (more: object) => ({ ...healthy, clients: [{ ...client, ...more }] })
export const codeClient = { grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/cb'] }

export const withPlugin = (plugin: object, ...clients: readonly object[]) => ({
  ...healthy,
  clients: [client, ...clients],
  plugins: [plugin],
})

/** A configuration, and the finding that `grantry check` must have. */
export type FindingCase = readonly [what: string, content: unknown, found: Partial<Finding>]

/** A configuration without findings. */
export type HealthyCase = readonly [what: string, content: unknown]

const base = mkdtempSync(join(tmpdir(), 'grantry-doctor-'))
process.once('exit', () => rmSync(base, { recursive: true, force: true }))

let count = 0
/** Writes this configuration and a key file to a directory, both readable by this user only. */
export function written(
  content: unknown,
  name = 'grantry.config.json',
): { readonly directory: string; readonly file: string } {
  count += 1
  const directory = join(base, `c${count}`)
  mkdirSync(directory)
  const file = join(directory, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  writeFileSync(join(directory, 'keys.json'), keySet, { mode: 0o600 })
  return { directory, file }
}

/** Leaves out findings about servers of others, which do not exist in tests. */
export const ofConfiguration = ({ findings }: { readonly findings: readonly Finding[] }): readonly Finding[] =>
  findings.filter(({ id }) => id !== 'mail-unusable' && id !== 'upstream-unreachable')
