/** What is sure to stand in the base64 of a text that holds these bytes, wherever in it they begin. */
const base64Of = (bytes: Buffer): readonly string[] =>
  [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/u, '')
    const isWhole = (offset + bytes.length) % 3 === 0
    return text.slice(Math.ceil((offset * 8) / 6), isWhole ? undefined : -1)
  })

/** How a secret may have been written down. */
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

/** The secrets that a text holds, in whichever form. A JWT counts by its signature too: the rest could stand alone. */
export function leaks(text: string, secrets: Iterable<string>): readonly string[] {
  const found: string[] = []
  for (const secret of secrets) {
    const parts = secret.startsWith('eyJ') ? [secret, ...secret.split('.').slice(1)] : [secret]
    if (parts.some((part) => formsOf(part).some((form) => text.includes(form)))) found.push(secret)
  }
  return found
}

/** `Authorization: Basic`, as it went over the wire. */
export const basicOf = (clientId: string, secret: string): string =>
  Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')
