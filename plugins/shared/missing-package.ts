const missing: ReadonlySet<unknown> = new Set(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])

/**
 * Returns the error to throw when an optional package could not be loaded. Its `import()` stands in `try`, with which
 * bundlers, such as those of Next.js and Workers, build a program without the package.
 */
export function missingPackage(name: string, purpose: string, cause: unknown): unknown {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  if (!missing.has(code)) return cause
  return new Error(`${purpose} needs the package ${name}, which is not installed: npm install ${name}`, { cause })
}
