import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { OperationName } from './operations.ts'

/** The settings with which every server of one operation starts. */
export interface Setting {
  readonly operation: OperationName
  /** Private key that signs the JWTs of the operation. */
  readonly signingKey: JsonWebKey & { readonly kid: string; readonly alg: 'ES256' | 'RS256' }
  /** Number of tokens to issue before the first request, if the operation presents tokens. */
  readonly tokens: number
}

/** The first line that a server prints, once it listens. */
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

/** Returns the settings of this process. */
export const readSetting = (): Setting => JSON.parse(process.env.BENCH_SETTING ?? '') as Setting

export function reportReady(ready: Ready): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`)
}
