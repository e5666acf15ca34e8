/** Characters that are read alike everywhere without quotes. */
const plain = /^[\w:/.,@%+=~?&;!*()[\]{}|^<>-]*$/u

/**
 * Quotes a value so that Node.js, Bun, Deno, wrangler and Next.js read it alike. Bun and Next.js replace `$NAME` in all quotes.
 *
 * @throws TypeError if there is no such form.
 */
function quoted(name: string, value: string): string {
  if (plain.test(value)) return value
  if (!/[$\p{Cc}]/u.test(value)) {
    if (!value.includes("'")) return `'${value}'`
    if (!/["\\]/u.test(value)) return `"${value}"`
  }
  throw new TypeError(
    `the value of ${name} has a character that programs read differently in .env, such as $; choose another one, or write it as a percent sign and two digits in a URL`,
  )
}

/** Returns the file of the settings and secrets. @throws TypeError if a value cannot be in it. */
export const environmentFile = (settings: Readonly<Record<string, string>>): string => `\
# Settings and secrets. Keep this file out of version control, and a copy in your password manager.
# GRANTRY_KEY_SECRET encrypts the signing keys in the storage: without it they cannot be read.
${Object.entries(settings)
  .map(([name, value]) => `${name}=${quoted(name, value)}\n`)
  .join('')}`
