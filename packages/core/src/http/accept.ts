const maxLength = 1000

/** Returns the quality of a media range, such as `application/json;q=0.5`; 1 without `q`. */
function qualityOf(parameters: readonly string[]): number {
  const quality = parameters.map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/iu.exec(parameter)?.[1]).find(Boolean)
  return quality === undefined ? 1 : Number(quality)
}

/**
 * Whether the caller asks for this media type by its name, and does not prefer JSON.
 *
 * @see RFC 9110 section 12.5.1
 */
export function prefers(mediaType: string, accept: string | null): boolean {
  if (accept === null || accept.length > maxLength) return false
  const qualities = new Map(
    accept.split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';')
      return [type.trim().toLowerCase(), qualityOf(parameters)]
    }),
  )
  const quality = qualities.get(mediaType) ?? 0
  return quality > 0 && quality >= (qualities.get('application/json') ?? 0)
}
