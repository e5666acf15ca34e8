import * as v from 'valibot'
import { jsonObjectSchema } from '../json.ts'
import type { KeyRing, RingKey } from '../keys/key-ring.ts'
import { type Capability, capabilityKind } from '../parts/capability.ts'
import type { Kit } from '../parts/kit.ts'
import { decodeBase64url, decodeUtf8, type Runtime, utf8 } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'
import { validate } from '../standard-schema.ts'

const maxSealedLength = 16_384

/** Creates `seal` and `unseal` of a plugin. What one plugin has sealed, another one cannot open. */
type CreateSeal = (plugin: string) => Pick<Kit, 'seal' | 'unseal'>

export type OpenSealing = (deps: {
  readonly issuer: string
  readonly keys: KeyRing
  readonly runtime: Runtime
}) => CreateSeal

const open: OpenSealing = ({ issuer, keys, runtime }) => {
  const sealedSchema = v.object({ expiresAt: v.number(), value: v.unknown() })

  function keyOf({ sealing }: RingKey, label: Uint8Array) {
    if (sealing === undefined) throw new TypeError('keys: seal() requires a private JWK; external keys can only sign')
    const input = new Uint8Array(sealing.length + label.length)
    input.set(sealing)
    input.set(label, sealing.length)
    return new Uint8Array(runtime.sha256(input))
  }

  return (plugin) => {
    const label = utf8(JSON.stringify([issuer, plugin]))
    return {
      async seal(value, expiresAt) {
        const key = await keys.sealer()
        const envelope = v.parse(jsonObjectSchema, { expiresAt, value })
        return `${runtime.base64url(key.kid)}.${await sealJson(envelope, keyOf(key, label), runtime)}`
      },

      async unseal(text, schema) {
        const [kid = '', sealed = '', ...more] = text.length > maxSealedLength ? [] : text.split('.')
        const bytes = decodeBase64url(kid)
        const name = bytes && decodeUtf8(bytes)
        const key = name && more.length === 0 ? await keys.find(name) : undefined
        if (key?.sealing === undefined) return undefined
        const opened = v.safeParse(sealedSchema, await openJson(sealed, keyOf(key, label), runtime))
        if (!opened.success || opened.output.expiresAt <= runtime.now()) return undefined
        const result = await validate(schema, opened.output.value)
        return result.issues === undefined ? result.value : undefined
      },
    }
  }
}

/**
 * The encryption of what browsers keep: `seal` and `unseal` of kits. `authorizationEndpoint()`, `loginPage()`,
 * `deviceAuthorization()` and `dpop()` name it.
 */
export const sealing: Capability = { kind: 'capability', '~kind': capabilityKind, name: 'sealing', open }
