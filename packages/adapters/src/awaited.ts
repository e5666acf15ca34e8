/**
 * `createProvider()` returns a promise. Without this, a host that forgets to await it starts, and fails at every request.
 *
 * @throws TypeError when a promise was given in place of the provider.
 */
export function assertAwaited(provider: object): void {
  if (!('then' in provider)) return
  throw new TypeError('The provider is a promise; write await createProvider(...)')
}
