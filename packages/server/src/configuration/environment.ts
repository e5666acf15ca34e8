type Environment = Readonly<Record<string, string | undefined>>

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/gu

function inText(text: string, path: string, environment: Environment): string {
  return text.replaceAll(reference, (_, name: string) => {
    const value = environment[name]
    if (value === undefined)
      throw new TypeError(
        `${path} needs the environment variable ${name}, which is not set; set it, or write it into grantry.env beside the configuration`,
      )
    return value
  })
}

/**
 * Replaces `${NAME}` in every text of a configuration.
 *
 * @throws TypeError that names the path and the variable when it is not set.
 */
export function withEnvironment(value: unknown, environment: Environment, path = ''): unknown {
  if (typeof value === 'string') return inText(value, path, environment)
  if (Array.isArray(value)) return value.map((item, index) => withEnvironment(item, environment, `${path}[${index}]`))
  // Only plain objects: what a module configuration made itself (a user service, a plugin) is left alone.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    withEnvironment(item, environment, path === '' ? key : `${path}.${key}`),
  ])
  return Object.fromEntries(entries)
}
