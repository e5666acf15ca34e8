import { isLoopbackHost } from '@grantry/core'

/** Whether a connection to PostgreSQL, without `ca`, is not encrypted, and leads to another machine. */
export function crossesInPlainText({ url, ca }: { readonly url: string; readonly ca?: string | undefined }): boolean {
  if (ca !== undefined) return false
  const { hostname, searchParams } = new URL(url)
  const isSecure = !['disable', null].includes(searchParams.get('sslmode'))
  return !isSecure && !searchParams.has('host') && !isLoopbackHost(hostname)
}
