import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes, sign } from 'node:crypto'

/** Writes values of DER, which the tests combine to certificates of any shape. */
export const der = (tag: number, ...parts: readonly (Uint8Array | string)[]): Buffer => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const octets = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number & 0x7f]
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift((left & 0x7f) | 0x80)
    return groups
  })
  return der(0x06, Buffer.from(octets))
}

const types: Readonly<Record<string, string>> = { CN: '2.5.4.3', O: '2.5.4.10', OU: '2.5.4.11', C: '2.5.4.6' }

/** An attribute of a name: its type, its value, and the tag of the string (default: UTF8String). */
export type Attribute = readonly [type: string, value: string | Uint8Array, tag?: number]

/** Writes a Name. Each argument is a relative name of one or more attributes. */
export const nameOf = (...relativeNames: readonly (readonly Attribute[])[]): Buffer =>
  sequence(
    ...relativeNames.map((attributes) =>
      der(0x31, ...attributes.map(([type, value, tag = 0x0c]) => sequence(oid(types[type] ?? type), der(tag, value)))),
    ),
  )

export const commonName = (text: string): Buffer => nameOf([['CN', text]])

/** Writes subject alternative names: the number of each choice of GeneralName, and its content. */
export const alternativeNames = (
  ...names: readonly (readonly [choice: number, content: string | Uint8Array])[]
): Buffer =>
  sequence(oid('2.5.29.17'), der(0x04, sequence(...names.map(([choice, content]) => der(0x80 + choice, content)))))

const time = (seconds: number): Buffer =>
  der(0x17, new Date(seconds * 1000).toISOString().replace(/^20|[-:T]|\.\d+/gu, ''))

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

/** A certificate with its private key. */
export interface Issued {
  /** The base64 of the DER. */
  readonly der: string
  readonly pem: string
  readonly keyPem: string
  readonly jwk: JsonWebKey
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly subject: Buffer
  /** The value of `x5t#S256`. */
  readonly thumbprint: string
}

export interface CertificateOptions {
  readonly subject?: Buffer
  readonly extensions?: readonly Buffer[]
  /** The issuer. Default: the certificate itself. */
  readonly by?: Issued
  /** The certificate whose key this one has, too. */
  readonly sameKeyAs?: Issued
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  /** Epoch seconds. */
  readonly notBefore?: number
  readonly notAfter?: number
  /** The times as values of DER, instead. */
  readonly validity?: readonly [Uint8Array, Uint8Array]
}

/** Signs a certificate (RFC 5280 section 4.1). */
export function certificate(options: CertificateOptions = {}): Issued {
  const { subject = commonName('client'), extensions = [], by, sameKeyAs, notBefore = 1_700_000_000 } = options
  const { notAfter = 1_900_000_000, keys = sameKeyAs ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }) } = options
  const { publicKey, privateKey } = keys
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1, ...randomBytes(8)])),
    ecdsaWithSha256,
    by?.subject ?? subject,
    sequence(...(options.validity ?? [time(notBefore), time(notAfter)])),
    subject,
    publicKey.export({ format: 'der', type: 'spki' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  )
  const signature = sign('sha256', signed, by?.privateKey ?? privateKey)
  const bytes = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature))
  const text = bytes.toString('base64')
  return {
    der: text,
    pem: `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}(?=.)/gu, '$&\n')}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    jwk: publicKey.export({ format: 'jwk' }),
    publicKey,
    privateKey,
    subject,
    thumbprint: createHash('sha256').update(bytes).digest('base64url'),
  }
}

/** Extensions of a certificate authority. */
export const authority = [
  sequence(oid('2.5.29.19'), der(0x01, Buffer.from([0xff])), der(0x04, sequence(der(0x01, Buffer.from([0xff]))))),
]
