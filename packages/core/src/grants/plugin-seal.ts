import * as v from 'valibot'
import { decodeBase64url, decodeUtf8, utf8 } from '../encoding.ts'
import type { KeyRing, RingKey } from '../keys/key-ring.ts'
import type { Kit } from '../parts/kit.ts'
import { jsonObjectSchema } from '../records/json.ts'
import type { Runtime } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'
import { validate } from '../standard-schema.ts'

const maxSealedLength = 16_384

const sealedSchema = v.object({ expiresAt: v.number(), value: v.unknown() })

/** Creates `seal` and `unseal` of a plugin. What one plugin has sealed, another one cannot open. */
export function createSeal(
  plugin: string,
  deps: { readonly issuer: string; readonly keys: KeyRing; readonly runtime: Runtime },
): Pick<Kit, 'seal' | 'unseal'> {
  const { issuer, keys, runtime } = deps
  const label = utf8(JSON.stringify([issuer, plugin]))

  function keyOf({ sealing }: RingKey) {
    if (sealing === undefined) throw new TypeError('keys: seal() requires a private JWK; external keys can only sign')
    const input = new Uint8Array(sealing.length + label.length)
    input.set(sealing)
    input.set(label, sealing.length)
    return new Uint8Array(runtime.sha256(input))
  }

  return {
    async seal(value, expiresAt) {
      const key = await keys.sealer()
      const envelope = v.parse(jsonObjectSchema, { expiresAt, value })
      return `${runtime.base64url(key.kid)}.${await sealJson(envelope, keyOf(key), runtime)}`
    },

    async unseal(text, schema) {
      const [kid = '', sealed = '', ...more] = text.length > maxSealedLength ? [] : text.split('.')
      const bytes = decodeBase64url(kid)
      const name = bytes && decodeUtf8(bytes)
      const key = name && more.length === 0 ? await keys.find(name) : undefined
      if (key?.sealing === undefined) return undefined
      const opened = v.safeParse(sealedSchema, await openJson(sealed, keyOf(key), runtime))
      if (!opened.success || opened.output.expiresAt <= runtime.now()) return undefined
      const result = await validate(schema, opened.output.value)
      return result.issues === undefined ? result.value : undefined
    },
  }
}
