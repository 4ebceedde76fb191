import ipaddr from "ipaddr.js";

/** What an address is to someone who must not be led into the network that a program runs in. */
export type AddressRange = "public" | "loopback" | "special";

/** 64:ff9b::/96, by which networks without IPv4 reach it: it stands for the IPv4 address at its end. RFC 6052. */
const NAT64 = ipaddr.IPv6.parse("64:ff9b::");
/** Everything outside 2000::/3 has a purpose of its own or none yet. RFC 4291. */
const GLOBAL = ipaddr.IPv6.parse("2000::");

/**
 * Classifies an IPv4 or IPv6 address. `special` is everything that is neither routed on the internet nor loopback: private,
 * link-local, shared, multicast, reserved, and IPv6 that stands for IPv4 (mapped, 6to4, Teredo), whatever for; and what is
 * no address. Pure and total.
 */
export function classifyAddress(text: string): AddressRange {
  if (!ipaddr.isValid(text)) return "special";
  const address = ipaddr.parse(text);
  const range = address.range();
  if (range === "loopback") return "loopback";
  if (address instanceof ipaddr.IPv4) return range === "unicast" ? "public" : "special";
  if (range === "unicast") return address.match(GLOBAL, 3) ? "public" : "special";
  if (!address.match(NAT64, 96)) return "special";
  const embedded = classifyAddress(address.toByteArray().slice(12).join("."));
  return embedded === "public" ? "public" : "special";
}
