/** Returns what the base64 of any text with these bytes must contain, for each of the three alignments. */
const base64Of = (bytes: Buffer): readonly string[] =>
  [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/u, '')
    const isWhole = (offset + bytes.length) % 3 === 0
    return text.slice(Math.ceil((offset * 8) / 6), isWhole ? undefined : -1)
  })

/** Returns the encodings in which a secret could appear. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const base64 = base64Of(bytes)
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ s: secret }).toString().slice(2),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
    JSON.stringify(secret).slice(1, -1),
  ]
}

/** Returns the secrets that a text contains in any encoding. The signature of a JWT alone counts as the JWT. */
export function leaks(text: string, secrets: Iterable<string>): readonly string[] {
  const leaked: string[] = []
  for (const secret of secrets) {
    const parts = secret.startsWith('eyJ') ? [secret, ...secret.split('.').slice(1)] : [secret]
    if (parts.some((part) => formsOf(part).some((form) => text.includes(form)))) leaked.push(secret)
  }
  return leaked
}

/** Returns the value of `Authorization: Basic` as sent. */
export const basicOf = (clientId: string, secret: string): string =>
  Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')
