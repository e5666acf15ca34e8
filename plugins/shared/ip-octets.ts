/** Returns the octets of an IPv4 address. */
function octetsOfIpv4(text: string): readonly number[] | undefined {
  const parts = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/u
    .exec(text)
    ?.slice(1)
    .map(Number)
  return parts?.every((part) => part < 256) ? parts : undefined
}

/** Returns the octets of an IPv6 address, which the parser of URLs writes as in RFC 5952. */
function octetsOfIpv6(text: string): readonly number[] | undefined {
  if (!/^[\da-f:.]*:[\da-f:.]*$/iu.test(text) || !URL.canParse(`http://[${text}]`)) return undefined
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (part: string): readonly string[] => (part === '' ? [] : part.split(':'))
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].flatMap((group) => {
    const number = Number.parseInt(group, 16)
    return [number >> 8, number & 0xff]
  })
}

/** Returns the 4 or 16 octets of an IP address; `undefined` for other text, also for an address with a zone. */
export const octetsOf = (text: string): readonly number[] | undefined => octetsOfIpv4(text) ?? octetsOfIpv6(text)
