#!/usr/bin/env python3
"""A server with two fixed answers, for measuring clients: SageMaker ListClusterNodes with 100 nodes, EC2 DescribeSubnets with
100 subnets. Keep-alive, one process, no parsing but of the length. Prints its port; ends with its standard input."""
import asyncio
import email.utils
import json
import sys

COUNT = 100


def nodes():
    return json.dumps({"NextToken": "bmV4dA==", "ClusterNodeSummaries": [{
        "InstanceGroupName": f"workers-{i % 4}", "InstanceId": f"i-{i:017x}", "NodeLogicalId": f"node-{i:08x}", "InstanceType": "ml.p5.48xlarge",
        "LaunchTime": 1796040000.125 + i, "LastSoftwareUpdateTime": 1796050000.5 + i,
        "InstanceStatus": {"Status": "Running", "Message": ""},
        "PrivateDnsHostname": f"ip-10-1-{i // 250}-{i % 250}.us-west-2.compute.internal"} for i in range(COUNT)]}).encode()


def subnets():
    def tag(key, value):
        return f"<item><key>{key}</key><value>{value}</value></item>"

    def subnet(i):
        return (f"<item><subnetId>subnet-{i:017x}</subnetId><subnetArn>arn:aws:ec2:us-west-2:111122223333:subnet/subnet-{i:017x}</subnetArn>"
                f"<state>available</state><ownerId>111122223333</ownerId><vpcId>vpc-{i // 10:017x}</vpcId><cidrBlock>10.{i}.0.0/20</cidrBlock>"
                "<ipv6CidrBlockAssociationSet/><assignIpv6AddressOnCreation>false</assignIpv6AddressOnCreation><ipv6Native>false</ipv6Native>"
                f"<availableIpAddressCount>{4091 - i}</availableIpAddressCount><availabilityZone>us-west-2a</availabilityZone>"
                "<availabilityZoneId>usw2-az1</availabilityZoneId><defaultForAz>false</defaultForAz><mapPublicIpOnLaunch>false</mapPublicIpOnLaunch>"
                "<mapCustomerOwnedIpOnLaunch>false</mapCustomerOwnedIpOnLaunch><enableDns64>false</enableDns64>"
                "<privateDnsNameOptionsOnLaunch><hostnameType>ip-name</hostnameType><enableResourceNameDnsARecord>false</enableResourceNameDnsARecord>"
                "<enableResourceNameDnsAAAARecord>false</enableResourceNameDnsAAAARecord></privateDnsNameOptionsOnLaunch><tagSet>"
                + tag("Name", f"demo-compute-{i}") + tag("instantstart:cluster", "demo") + tag("instantstart:step", "compute_subnet_us-west-2a")
                + tag("team", "research &amp; more") + "</tagSet></item>")

    return ('<?xml version="1.0" encoding="UTF-8"?>\n<DescribeSubnetsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
            "<requestId>59dbff89-35bd-4eac-99ed-be587EXAMPLE</requestId><subnetSet>" + "".join(map(subnet, range(COUNT)))
            + "</subnetSet></DescribeSubnetsResponse>").encode()


def whole(content_type, body):
    head = (f"HTTP/1.1 200 OK\r\nx-amzn-RequestId: 59dbff89-35bd-4eac-99ed-be587EXAMPLE\r\nContent-Type: {content_type}\r\n"
            f"Content-Length: {len(body)}\r\nDate: {email.utils.formatdate(usegmt=True)}\r\n\r\n")
    return head.encode() + body


ANSWERS = {True: whole("application/x-amz-json-1.1", nodes()), False: whole("text/xml;charset=UTF-8", subnets())}


class Server(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.waiting = transport, b""

    def data_received(self, data):
        self.waiting += data
        while (end := self.waiting.find(b"\r\n\r\n")) >= 0:
            head = self.waiting[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.waiting) < end + 4 + length:
                return
            self.waiting = self.waiting[end + 4 + length:]
            self.transport.write(ANSWERS[b"x-amz-target:" in head])


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
