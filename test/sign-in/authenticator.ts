import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

const hash = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** A COSE key (RFC 9053 section 7.1.1) for ES256. */
function coseKeyOf(publicKey: KeyObject): Uint8Array<ArrayBuffer> {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const coordinate = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')])
  // A map of five: kty 2, alg -7, crv 1, x, y.
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21])
  return Uint8Array.from(Buffer.concat([head, coordinate(x), Buffer.from([0x22]), coordinate(y)]))
}

interface Change {
  readonly origin?: string
  readonly rpId?: string
  /** User present 1, user verified 4. */
  readonly flags?: number
  readonly type?: string
}

/** A device with one passkey. */
export function createAuthenticator(credentialId = 'cGFzc2tleQ') {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let counter = 0
  return {
    credentialId,
    publicKey: coseKeyOf(publicKey),
    privateKey,
    /** Creates the passkey for a challenge, as `navigator.credentials.create()` does, without an attestation. */
    register(challenge: string, change: Change = {}): string {
      const {
        origin = 'https://id.example.com',
        rpId = 'id.example.com',
        flags = 0x45,
        type = 'webauthn.create',
      } = change
      const id = Buffer.from(credentialId, 'base64url')
      const head = Buffer.concat([hash(rpId), Buffer.from([flags]), Buffer.alloc(4), Buffer.alloc(16)])
      const data = Buffer.concat([head, Buffer.from([id.length >> 8, id.length & 255]), id, coseKeyOf(publicKey)])
      const clientData = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
      return JSON.stringify({
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: data.toString('base64url'),
        },
      })
    },
    /** Signs a challenge, as `navigator.credentials.get()` does. */
    respond(challenge: string, change: Change = {}): string {
      const { origin = 'https://id.example.com', rpId = 'id.example.com', flags = 5, type = 'webauthn.get' } = change
      counter += 1
      const count = Buffer.alloc(4)
      count.writeUInt32BE(counter)
      const authenticatorData = Buffer.concat([hash(rpId), Buffer.from([flags]), count])
      const clientData = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
      const signature = sign('sha256', Buffer.concat([authenticatorData, hash(clientData)]), privateKey)
      const encode = (data: Buffer): string => data.toString('base64url')
      return JSON.stringify({
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: encode(clientData),
          authenticatorData: encode(authenticatorData),
          signature: encode(signature),
        },
      })
    },
  }
}
