/** An OAuth error that the adapter says in the provider's place, in the provider's words: wire contract, section 1. */
export function refusal(
  status: number,
  error: 'invalid_request' | 'server_error' | 'temporarily_unavailable',
  description?: string,
  more?: Readonly<Record<string, string>>,
): Response {
  const body = { error, ...(description !== undefined && { error_description: description }) }
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
      connection: 'close',
      ...more,
    },
  })
}
