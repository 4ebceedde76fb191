import { describe, expect, it } from "vitest";
import { classifyAddress } from "../../../src/transport/address-range.js";

describe("F-15: classifyAddress", () => {
  it.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"])(
    "%s is public",
    (address) => {
      expect(classifyAddress(address)).toBe("public");
    },
  );

  it.each(["127.0.0.1", "127.255.255.254", "::1"])("%s is loopback", (address) => {
    expect(classifyAddress(address)).toBe("loopback");
  });

  it.each([
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "192.168.1.1"],
    ["link-local, where clouds keep credentials", "169.254.169.254"],
    ["shared", "100.64.0.1"],
    ["multicast", "224.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["this network", "0.0.0.0"],
    ["benchmarks", "198.18.0.1"],
    ["documentation", "203.0.113.1"],
    ["reserved", "240.0.0.1"],
    ["unspecified", "::"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["unique local", "fd00::1"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["mapped loopback", "::ffff:127.0.0.1"],
    ["mapped public", "::ffff:8.8.8.8"],
    ["compatible loopback", "::127.0.0.1"],
    ["translated loopback", "::ffff:0:7f00:1"],
    ["NAT64 of loopback", "64:ff9b::7f00:1"],
    ["NAT64 of private", "64:ff9b::a00:1"],
    ["NAT64 of a network's own", "64:ff9b:1::808:808"],
    ["6to4", "2002:7f00:1::"],
    ["Teredo", "2001::1"],
    ["documentation", "2001:db8::1"],
    ["not assigned", "4000::1"],
    ["no address", "localhost"],
    ["no address", ""],
  ])("%s, %s, is special", (_, address) => {
    expect(classifyAddress(address)).toBe("special");
  });
});
