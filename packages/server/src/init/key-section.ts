import { generateKeyPairSync } from 'node:crypto'
import * as v from 'valibot'
import { environmentFileName } from '../configuration/environment-file.ts'
import { configurationSchema } from '../configuration/schema.ts'

/** The signing keys of a new server: their lines in the configuration, and a file of their own where they need one. */
export interface KeySection {
  readonly lines: string
  readonly file?: { readonly name: string; readonly content: string }
}

/** Whether this version keeps keys in the store, encrypted. */
export const hasKeyRing = (): boolean =>
  v.is(configurationSchema, { issuer: '', clients: [], keys: { encryptionSecret: 'x'.repeat(43) } })

const inStore: KeySection = {
  lines: `\
  // Signing keys: made at the first start, kept in the storage under the encryption secret, replaced every 90 days.
  // \${GRANTRY_KEY_SECRET} is read from the environment, or from ${environmentFileName} beside this file.
  "keys": { "algorithm": "ES256", "rotateAfter": 7776000, "encryptionSecret": "\${GRANTRY_KEY_SECRET}" },`,
}

function inFile(): KeySection {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256' }]
  return {
    lines: `\
  // Signing keys: the first, a private one, signs. To replace it, put a new one before it.
  "keys": { "jwks": "./grantry.keys.json" },`,
    file: { name: 'grantry.keys.json', content: `${JSON.stringify({ keys }, undefined, 2)}\n` },
  }
}

export const keySection = (): KeySection => (hasKeyRing() ? inStore : inFile())
