/** Creates an OAuth error response in the provider's format (wire contract, section 1). */
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
