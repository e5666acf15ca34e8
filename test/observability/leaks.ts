/** How a secret may have been written down. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ s: secret }).toString().slice(2),
    bytes.toString('base64').replace(/=+$/u, ''),
    bytes.toString('base64url'),
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
