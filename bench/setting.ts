import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { OperationName } from './operations.ts'

/** What every server of one operation is started with. */
export interface Setting {
  readonly operation: OperationName
  /** Private; what JWTs of the operation are signed with. */
  readonly signingKey: JsonWebKey & { readonly kid: string; readonly alg: 'ES256' | 'RS256' }
  /** So many tokens exist before the first request, where the operation presents one. */
  readonly tokens: number
}

/** What a server says on its first line: it listens. */
export interface Ready {
  readonly port: number
  readonly tokens: readonly string[]
}

export function newSetting(operation: OperationName, tokens: number): Setting {
  const rsa = operation === 'client-credentials-rs256'
  const { privateKey } = rsa
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signingKey = { ...privateKey.export({ format: 'jwk' }), kid: 'bench', alg: rsa ? 'RS256' : 'ES256' } as const
  return { operation, signingKey, tokens }
}

/** The setting that this process was started with. */
export const readSetting = (): Setting => JSON.parse(process.env.BENCH_SETTING ?? '') as Setting

export function sayReady(ready: Ready): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`)
}
