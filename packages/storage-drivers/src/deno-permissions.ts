import process from 'node:process'

type Permission = { readonly name: 'read'; readonly path: string } | { readonly name: 'sys'; readonly kind: 'uid' }

interface Permissions {
  querySync(permission: Permission): { readonly state: string }
}

/** Whether Deno has granted a permission. Without this check, Deno would ask for the permission, or throw. */
export function isGranted(permission: Permission): boolean {
  const { Deno: deno } = globalThis as { readonly Deno?: { readonly permissions: Permissions } }
  return deno === undefined || deno.permissions.querySync(permission).state === 'granted'
}

/** The user of this process; `undefined` where it cannot be known. */
export const currentUser = (): number | undefined =>
  isGranted({ name: 'sys', kind: 'uid' }) ? process.getuid?.() : undefined
